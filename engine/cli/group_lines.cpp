#include "engine/cli/group_lines.h"

#include <fmt/core.h>

#include "engine/answers/top.h"
#include "engine/answers/who.h"

namespace memstrata::cli {

using analysis::TopBy;

namespace {
constexpr size_t kShownFrames = 8;  // --json has all
}  // namespace

std::vector<std::string> lines_of_group(const model::Recording& recording, const analysis::TopGroup& group,
                                        TopBy by) {
  if (by == TopBy::stack) {
    if (group.stack.is_none()) return {"(no stack recorded)"};
    constexpr size_t kEnough = 64 << 10;  // bytes; what is printed is cut
    answers::ShownLines shown = answers::shown_lines(recording, group.stack, kShownFrames + 1, kEnough);
    if (shown.lines.empty()) return {"(an empty stack)"};
    if (shown.left_out > 0) {
      shown.lines.back() = fmt::format("... {} more", shown.left_out + 1);
    }
    return shown.lines;
  }
  const analysis::Who& who = group.who;
  if (who.kind == analysis::Who::Kind::nothing) return {"(no stack recorded)"};
  const std::string_view file = answers::recorded_file(recording, who);
  if (by == TopBy::file) return {std::string(file)};
  const std::string function = answers::function_text(who);
  if (!who.is_frame()) return {function};
  if (by == TopBy::function) return {fmt::format("{}  {}", function, file)};
  return {fmt::format("{}:{}  {}", file, answers::line_of(recording, who), function)};
}

std::string_view heading_of(TopBy by) {
  switch (by) {
    case TopBy::stack:
      return "stack, innermost frame first";
    case TopBy::line:
      return "line";
    case TopBy::function:
      return "function";
    case TopBy::file:
      break;
  }
  return "file";
}

}  // namespace memstrata::cli
