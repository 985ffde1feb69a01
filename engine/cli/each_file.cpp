#include "engine/cli/each_file.h"

#include <fmt/core.h>

#include <cstdio>
#include <new>

#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/printable.h"

namespace memstrata::cli {

namespace {

[[nodiscard]] std::string failure_text(const ReadFailure& failure, std::string_view file) {
  const std::string place =
      failure.offset <= 0 ? ""
      : failure.inside.empty()
          ? fmt::format(" (at byte {})", count_text(failure.offset))
          : fmt::format(" (at byte {} of {})", count_text(failure.offset), printable(failure.inside));
  return fmt::format("memstrata: {}: {}{}\n", printable(file), printable(failure.message), place);
}

}  // namespace

int for_each_file(const std::vector<std::string>& files, bool json,
                  const std::function<tl::expected<std::string, ReadFailure>(const std::string&)>& answer) {
  int exit_code = kSuccess;
  bool first = true;
  for (const std::string& file : files) {
    tl::expected<std::string, ReadFailure> text;
    try {
      text = answer(file);
    } catch (const std::bad_alloc&) {  // beyond what the budget knows; the other files may well fit
      text = tl::unexpected(ReadFailure{
          std::string(name_of(ErrorCode::limit_exceeded)), "This file needs too much memory.", -1, {}});
    }
    std::string out;
    if (text) {
      out = (first || json ? "" : "\n") + *text;
      first = false;
    } else {
      exit_code = kUnreadable;
      ReadFailure& failure = text.error();
      if (file == "-" && failure.code == name_of(ErrorCode::invalid_format))
        failure.message += " A list of paths is read with --paths-from -.";
      if (json) {
        out =
            analysis::error_json(failure.code, failure.message, failure.offset, failure.inside, file) + "\n";
      } else {
        std::fputs(failure_text(failure, file).c_str(), stderr);
      }
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
  }
  if (std::ferror(stdout) != 0) {
    std::fputs("memstrata: the output could not be written\n", stderr);
    return kUnreadable;
  }
  return exit_code;
}

}  // namespace memstrata::cli
