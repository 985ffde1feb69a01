#include "engine/analysis/source_lines.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/analysis/frame_filter.h"
#include "engine/analysis/own_frame.h"
#include "engine/analysis/top.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

[[nodiscard]] tl::unexpected<Error> no_room_for_lines() {
  return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to find lines of source.");
}

}  // namespace

Result<SourceLines> find_source_lines(const model::Recording& recording, const model::Part& part,
                                      const replay::BlockLives& lifetimes, int32_t event,
                                      std::string_view file) {
  SourceLines found(recording.budget);
  const auto top =
      find_top(recording, part, lifetimes, event, TopBy::stack, std::numeric_limits<size_t>::max());
  if (!top) return tl::unexpected(top.error());
  WhoOfStacks who_of_stacks(recording);
  if (!who_of_stacks.prepare()) return no_room_for_lines();
  // Once: whether a frame is of the file.
  Column<uint8_t> is_meant(recording.budget);
  if (!is_meant.resize(recording.frames.size(), 0)) return no_room_for_lines();
  for (size_t i = 0; i < recording.frames.size(); ++i) {
    const trace::Frame& frame = recording.frames[FrameId{static_cast<int32_t>(i)}];
    is_meant[i] = recording.strings.view(frame.filename) == file ? 1 : 0;
  }
  Column<SourceLine>& lines = found.lines;  // one a stack and line, at first
  Column<int32_t> of_stack(recording.budget);
  for (const TopGroup& group : top->groups) {
    if (group.stack.is_none()) continue;
    of_stack.clear();
    size_t depth = 0;
    for (int32_t node = recording.stacks.leaf(group.stack); node >= 0 && depth < kMostFrames;
         node = recording.stacks.node(node).caller, ++depth) {
      const FrameId frame = recording.stacks.node(node).frame;
      if (is_meant[frame.index()] == 0) continue;
      if (!of_stack.push_back(std::max(recording.frames[frame].line, 0))) return no_room_for_lines();
    }
    std::sort(of_stack.data(), of_stack.data() + of_stack.size());
    const Who who = who_of_stacks(group.stack);
    const bool is_own = who.is_frame() && is_meant[who.frame.index()] != 0;
    for (size_t i = 0; i < of_stack.size(); ++i) {
      if (i > 0 && of_stack[i] == of_stack[i - 1]) continue;
      SourceLine line{of_stack[i], 0, 0, group.bytes, group.count};
      if (is_own && std::max(recording.frames[who.frame].line, 0) == line.line) {
        line.own_bytes = group.bytes;
        line.own_blocks = group.count;
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

Result<SourceFiles> find_source_files(const model::Recording& recording, const model::Part& part,
                                      const replay::BlockLives& lifetimes, int32_t event) {
  SourceFiles found(recording.budget);
  const auto top =
      find_top(recording, part, lifetimes, event, TopBy::file, std::numeric_limits<size_t>::max());
  if (!top) return tl::unexpected(top.error());
  for (const TopGroup& group : top->groups) {
    if (!group.who.is_frame() || found.files.size() == kMostSourceFiles) continue;
    const trace::Frame& frame = recording.frames[group.who.frame];
    if (frame.line <= 0) continue;
    if (!found.files.push_back({frame.filename, group.bytes, group.count})) return no_room_for_lines();
  }
  return found;
}

}  // namespace gpustrata::analysis
