// A frame in words that mean just this frame: `call:` of a filter (filter_syntax.h).
//
//   file:line:function   as they are in the file; any of them may be *, which stands for all
// The line is the first number (or *) between two colons: C:\run.py:12:at::add is file, line and function. An unknown
// line is 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/analysis/stacks/frame_keys.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct FramePattern {
  std::string file, name;  // "*" = any
  int32_t line = -1;       // -1 = any
};
// None: it is not of that form.
[[nodiscard]] std::optional<FramePattern> parse_frame_pattern(std::string_view text);
// Of the frames that are one with it (frame_keys.h).
[[nodiscard]] std::string frame_pattern(const model::Recording& recording, FrameKey by, FrameId frame);

// Per frame 1 = it is meant. O(frames). False = no memory.
[[nodiscard]] bool find_frames_meant(const model::Recording& recording, const FramePattern& pattern,
                                     Column<uint8_t>& frames);
// Per node of the stack table 1 = the frame or one of its callers is meant. O(frames + nodes). False = no memory.
[[nodiscard]] bool find_nodes_with(const model::Recording& recording, const FramePattern& pattern,
                                   Column<uint8_t>& nodes);

}  // namespace gpustrata::analysis
