#include "engine/analysis/stacks/frame_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gpustrata::analysis {

namespace {

// Behind the line that begins at `from`; npos = there is none.
[[nodiscard]] size_t end_of_line(std::string_view text, size_t from, int32_t& line) {
  if (text.substr(from).starts_with("*:")) {
    line = -1;
    return from + 1;
  }
  const auto read = std::from_chars(text.data() + from, text.data() + text.size(), line);
  const auto end = static_cast<size_t>(read.ptr - text.data());
  const bool is_line = read.ec == std::errc() && line >= 0 && end < text.size() && text[end] == ':';
  return is_line ? end : std::string_view::npos;
}

}  // namespace

std::optional<FramePattern> parse_frame_pattern(std::string_view text) {
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    int32_t line = 0;
    const size_t end = end_of_line(text, colon + 1, line);
    if (end == std::string_view::npos) continue;
    return FramePattern{std::string(text.substr(0, colon)), std::string(text.substr(end + 1)), line};
  }
  return std::nullopt;
}

std::string frame_pattern(const model::Recording& recording, FrameKey by, FrameId id) {
  const trace::Frame& frame = recording.frames[id];
  const std::string_view file = recording.strings.view(frame.filename);
  const std::string_view name = recording.strings.view(frame.name);
  switch (by) {
    case FrameKey::line:
      return fmt::format("{}:{}:{}", file, std::max(frame.line, 0), name);
    case FrameKey::function:
      return fmt::format("{}:*:{}", file, name);
    case FrameKey::file:
      break;
  }
  return fmt::format("{}:*:*", file);
}

bool find_frames_meant(const model::Recording& recording, const FramePattern& pattern,
                       Column<uint8_t>& frames) {
  if (!frames.resize(recording.frames.size(), 0)) return false;
  const auto is = [&](const std::string& wanted, StringId text) {
    return wanted == "*" || recording.strings.view(text) == wanted;
  };
  for (size_t i = 0; i < frames.size(); ++i) {
    const trace::Frame& frame = recording.frames[FrameId{i}];
    const bool meant = (pattern.line < 0 || std::max(frame.line, 0) == pattern.line) &&
                       is(pattern.name, frame.name) && is(pattern.file, frame.filename);
    frames[i] = meant ? 1 : 0;
  }
  return true;
}

bool find_nodes_with(const model::Recording& recording, const FramePattern& pattern, Column<uint8_t>& nodes) {
  Column<uint8_t> frames(recording.budget);
  if (!find_frames_meant(recording, pattern, frames) || !nodes.resize(recording.stacks.node_count(), 0))
    return false;
  for (size_t i = 0; i < nodes.size(); ++i) {  // callers have lower numbers
    const trace::StackTable::Node& node = recording.stacks.node(static_cast<int32_t>(i));
    const bool in_caller = node.caller >= 0 && nodes[node.caller] != 0;
    nodes[i] = in_caller || frames[node.frame.index()] != 0 ? 1 : 0;
  }
  return true;
}

}  // namespace gpustrata::analysis
