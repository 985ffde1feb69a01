// gpustrata words [FOLDER]: every sentence that the engine can say, to be read in a row.
#include <string>
#include <string_view>

#include "engine/answers/text/text_out.h"
#include "engine/base/units.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/options.h"
#include "engine/cli/words/sentences.h"

namespace gpustrata::cli {

namespace {

struct WordsOptions {
  std::string below;  // empty: all
};

// On one line, as it reads.
[[nodiscard]] std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char each : text) {
    const bool space = each == ' ' || each == '\n' || each == '\t';
    if (space && (line.empty() || line.back() == ' ')) continue;
    line += space ? ' ' : each;
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

// The exit code: 0; 1 if there are none below that folder.
int run_words(const WordsOptions& options, const Console& console) {
  answers::TextOut out(console.out);
  std::string_view file;
  int64_t files = 0, said = 0, filled_in = 0, with_example = 0;
  for (const Sentence& one : sentences()) {
    if (!one.file.starts_with(options.below)) continue;
    if (one.file != file) out.print("{}{}\n", ++files > 1 ? "\n" : "", one.file);
    file = one.file;
    ++said;
    const bool fixed = one.text.find('{') == std::string_view::npos;
    filled_in += fixed ? 0 : 1;
    with_example += fixed || one.example.empty() ? 0 : 1;
    out.print("  {}\n", in_one_line(one.text));
    if (!fixed && !one.example.empty()) out.print("      {}\n", in_one_line(one.example));
  }
  if (said == 0)
    return tell(failure(name_of(ErrorCode::wrong_usage), options.below,
                        "No sentence is below that folder of engine/; gpustrata words prints all there are.")
                    .value(),
                false, console);
  out.print("\n{} in {}. A file fills in {} of them; {} of these are shown with an example.\n",
            counted(said, "sentence"), counted(files, "source file"), count_text(filled_in),
            count_text(with_example));
  return out.finish() ? kSuccess : tell_unwritten(console);
}

}  // namespace

void add_words(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "words", "Every sentence that the engine can say, with examples", run_words);
  command->add_option("FOLDER", options->below, "Only of this folder of engine/, such as answers/what_if");
}

}  // namespace gpustrata::cli
