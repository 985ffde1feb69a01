#include "engine/cli/group_lines.h"

#include <fmt/core.h>

namespace memstrata::cli {

using analysis::TopBy;

namespace {
constexpr size_t kShownFrames = 8;  // --json has all
}  // namespace

std::vector<std::string> lines_of_group(const model::Recording& recording, const analysis::TopGroup& group,
                                        TopBy by) {
  const auto text = [&](StringId id) { return std::string(recording.strings.view(id)); };
  switch (by) {
    case TopBy::stack: {
      if (group.stack.is_none()) return {"(no stack recorded)"};
      std::vector<std::string> lines = analysis::shown_lines(recording, group.stack);
      if (lines.empty()) return {"(an empty stack)"};
      if (lines.size() > kShownFrames + 1) {
        const size_t more = lines.size() - kShownFrames;
        lines.resize(kShownFrames);
        lines.push_back(fmt::format("... {} more", more));
      }
      return lines;
    }
    case TopBy::function:
      return {group.file.is_none() ? "(no stack recorded)"
                                   : fmt::format("{}  {}", text(group.name), text(group.file))};
    case TopBy::file:
      return {group.file.is_none() ? "(no stack recorded)" : text(group.file)};
  }
  return {};
}

std::string_view heading_of(TopBy by) {
  return by == TopBy::stack ? "stack, innermost frame first" : by == TopBy::function ? "function" : "file";
}

}  // namespace memstrata::cli
