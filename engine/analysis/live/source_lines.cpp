#include "engine/analysis/live/source_lines.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] tl::unexpected<Error> no_room_for_lines() {
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to find lines of source.");
}

}  // namespace

Result<SourceLines> find_source_lines(const model::Recording& recording, const model::Part& part,
                                      const replay::BlockLives& lifetimes, int32_t event,
                                      std::string_view file, const Keys& by_line) {
  SourceLines found(recording.budget);
  const auto ranks = ranks_in(lifetimes, When::alive(event), {}, recording.budget);
  if (!ranks) return tl::unexpected(ranks.error());
  const auto by_stack = sums_by_stack(recording, part, lifetimes, ranks->span());
  if (!by_stack) return tl::unexpected(by_stack.error());
  // Once: whether a frame is of the file.
  Column<uint8_t> is_meant(recording.budget);
  if (!is_meant.resize(recording.frames.size(), 0)) return no_room_for_lines();
  for (size_t i = 0; i < recording.frames.size(); ++i) {
    const trace::Frame& frame = recording.frames[FrameId{static_cast<int32_t>(i)}];
    is_meant[i] = recording.strings.view(frame.filename) == file ? 1 : 0;
  }
  Column<SourceLine>& lines = found.lines;  // one a stack and line, at first
  Column<int32_t> of_stack(recording.budget);
  for (const BlockSum& sum : by_stack->rows()) {
    if (sum.key < 0) continue;
    of_stack.clear();
    size_t depth = 0;
    for (int32_t node = recording.stacks.leaf(StackId{sum.key}); node >= 0 && depth < kMostFrames;
         node = recording.stacks.node(node).caller, ++depth) {
      const FrameId frame = recording.stacks.node(node).frame;
      if (is_meant[frame.index()] == 0) continue;
      if (!of_stack.push_back(std::max(recording.frames[frame].line, 0))) return no_room_for_lines();
    }
    std::sort(of_stack.data(), of_stack.data() + of_stack.size());
    const Who who = by_line.who_of(recording, by_line.of(StackId{sum.key}));
    const bool is_own = who.is_frame() && is_meant[who.frame.index()] != 0;
    for (size_t i = 0; i < of_stack.size(); ++i) {
      if (i > 0 && of_stack[i] == of_stack[i - 1]) continue;
      SourceLine line{of_stack[i], 0, 0, sum.bytes, sum.blocks};
      if (is_own && std::max(recording.frames[who.frame].line, 0) == line.line) {
        line.own_bytes = sum.bytes;
        line.own_blocks = sum.blocks;
      }
      if (!lines.push_back(line)) return no_room_for_lines();
    }
  }
  std::sort(lines.data(), lines.data() + lines.size(),
            [](const SourceLine& a, const SourceLine& b) { return a.line < b.line; });
  size_t kept = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (kept == 0 || lines[kept - 1].line != lines[i].line) {
      lines[kept++] = lines[i];
      continue;
    }
    SourceLine& into = lines[kept - 1];
    add_saturated(into.own_bytes, lines[i].own_bytes);
    add_saturated(into.bytes, lines[i].bytes);
    into.own_blocks += lines[i].own_blocks;
    into.blocks += lines[i].blocks;
  }
  lines.truncate(kept);
  if (kept > kMostSourceLines) {
    std::sort(lines.data(), lines.data() + kept, [](const SourceLine& a, const SourceLine& b) {
      return std::tie(b.bytes, a.line) < std::tie(a.bytes, b.line);
    });
    found.left_out = static_cast<int64_t>(kept - kMostSourceLines);
    lines.truncate(kMostSourceLines);
    std::sort(lines.data(), lines.data() + lines.size(),
              [](const SourceLine& a, const SourceLine& b) { return a.line < b.line; });
  }
  return found;
}

Result<Column<TopGroup>> find_source_files(const model::Recording& recording, const model::Part& part,
                                           const replay::BlockLives& lifetimes, int32_t event,
                                           const Keys& by_file) {
  auto top = find_top(recording, part, lifetimes, When::alive(event), By::file, kAllGroups, {}, &by_file);
  if (!top) return tl::unexpected(top.error());
  size_t kept = 0;
  for (const TopGroup& group : top->groups) {
    const bool has_lines = group.who.is_frame() && recording.frames[group.who.frame].line > 0;
    if (has_lines && kept < kMostSourceFiles) top->groups[kept++] = group;
  }
  top->groups.truncate(kept);
  return std::move(top->groups);
}

}  // namespace gpustrata::analysis
