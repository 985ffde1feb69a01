#include "engine/answers/live/group_lines.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::By;
using analysis::FrameLine;

namespace {

constexpr size_t kOwnFrames = 8;
constexpr size_t kOtherFrames = 3;          // of a stack without own frames
constexpr size_t kLongestShownName = 4096;  // bytes of a name that are looked at

[[nodiscard]] std::string place_text(std::string_view file, int32_t line) {
  if (file.empty() || file == "??") return {};
  const std::string shown = file.size() > kLongestShownName
                                ? printable(file.substr(file.size() - kLongestShownName))
                                : printable(file);
  return line > 0 ? fmt::format("{}:{}", shown, line) : shown;
}

[[nodiscard]] std::string frame_line(const model::Recording& recording, const FrameLine& line,
                                     size_t columns) {
  const trace::Frame& frame = recording.frames[line.frame];
  const std::string repeats = line.repeats > 1 ? fmt::format("  ({} times)", line.repeats) : "";
  const size_t room = columns - std::min(columns, repeats.size());
  return fitted_frame(shortened(recording.strings.view(frame.name), kLongestShownName),
                      place_text(recording.strings.view(frame.filename), frame.line), room) +
         repeats;
}

[[nodiscard]] std::vector<std::string> stack_lines(const model::Recording& recording, StackId stack,
                                                   size_t columns) {
  std::vector<FrameLine> frames = analysis::frame_lines(recording, stack);
  if (frames.empty()) return {"(an empty stack)"};
  const auto is_hidden = [](const FrameLine& line) { return line.hidden; };
  if (!std::all_of(frames.begin(), frames.end(), is_hidden)) std::erase_if(frames, is_hidden);
  const analysis::OwnFrames own(recording, stack);
  std::vector<std::string> lines;
  for (const FrameLine& line : frames) {
    if (lines.size() < kOwnFrames && own.is_own(line.frame))
      lines.push_back(frame_line(recording, line, columns));
  }
  size_t shown = lines.size();
  if (lines.empty()) {
    const analysis::Who who = analysis::who_of(recording, stack);
    if (!who.is_frame())
      lines.push_back(fitted(shortened(answers::function_text(who), kLongestShownName), columns));
    shown = std::min(frames.size(), kOtherFrames);
    for (size_t i = 0; i < shown; ++i) lines.push_back(frame_line(recording, frames[i], columns));
  }
  if (const size_t more = frames.size() - shown; more > 0)
    lines.push_back(
        fmt::format("({} more frame{})", count_text(static_cast<int64_t>(more)), more == 1 ? "" : "s"));
  return lines;
}

}  // namespace

std::vector<std::string> lines_of_group(const model::Recording& recording, const analysis::TopGroup& group,
                                        By by, size_t columns) {
  if ((by == By::stack || by == By::shown) && !group.stack.is_none())
    return stack_lines(recording, group.stack, columns);
  const analysis::Who& who = group.who;
  if (who.kind == analysis::Who::Kind::nothing) return {"(no stack recorded)"};
  const std::string function = shortened(answers::function_text(who), kLongestShownName);
  const std::string_view file = answers::recorded_file(recording, who);
  if (by == By::file) {
    const std::string place = place_text(file, 0);
    return {place.empty() ? "(no file)" : fitted_path(place, columns)};
  }
  if (!who.is_frame()) return {fitted(function, columns)};
  const int32_t line = by == By::line ? answers::line_of(recording, who) : 0;
  return {fitted_frame(function, place_text(file, line), columns)};
}

std::string_view heading_of(By by) {
  switch (by) {
    case By::line:
      return "line";
    case By::function:
      return "function";
    case By::file:
      return "file";
    case By::module:
      return "module";
    case By::category:
      return "category";
    case By::stack:
    case By::shown:
      break;
  }
  return "own frames, innermost first";
}

std::string table_row(std::string_view numbers, const std::vector<std::string>& lines) {
  std::string out = fmt::format("{}  {}\n", numbers, lines[0]);
  for (size_t i = 1; i < lines.size(); ++i) out += fmt::format("{:{}}  {}\n", "", numbers.size(), lines[i]);
  return out;
}

size_t columns_beside(std::string_view numbers, size_t columns) {
  constexpr size_t kLeast = 20;
  return std::max(columns - std::min(columns, numbers.size() + 2), kLeast);
}

}  // namespace gpustrata::answers
