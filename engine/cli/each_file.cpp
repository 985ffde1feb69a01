#include "engine/cli/each_file.h"

#include <algorithm>
#include <new>

#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"

namespace gpustrata::cli {

int for_each_file(
    const std::vector<std::string>& files, bool json, const Console& console,
    const std::function<Outcome<void>(const std::string&, model::Recording&, answers::TextOut&)>& answer) {
  int exit_code = kSuccess;
  bool first = true;
  for (const std::string& file : files) {
    answers::TextOut out(console.out);
    Outcome<void> answered;
    try {
      Budget budget(console.budget_bytes);
      InputRecording input(console, budget);
      if (const auto recording = input.read(file)) {
        if (!first && !json) out.add("\n");
        first = false;
        answered = answer(file, **recording, out);
      } else {
        answered = tl::unexpected(recording.error());
      }
    } catch (const std::bad_alloc&) {  // beyond what the budget knows; the other files may well fit
      answered = failure(name_of(ErrorCode::limit_exceeded), file, "This file needs too much memory.");
    }
    if (const Status written = out.finish(); !written) return tell_unwritten(console);
    if (answered) continue;
    Failure& failed = answered.error();
    if (file == "-" && failed.code == name_of(ErrorCode::invalid_format))
      failed.message += " A list of paths is read with --paths-from -.";
    exit_code = std::max(exit_code, tell(failed, json, console));
  }
  return exit_code;
}

}  // namespace gpustrata::cli
