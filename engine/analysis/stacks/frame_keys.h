// Frames that are one thing for a reader: one line, one function, one file of the program.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// line: function, file and line are equal (an unknown line is 0); function: function and file; file: the file.
GPUSTRATA_WORDS(FrameKey, line, function, file);

// Per frame the lowest FrameId that is one with it. O(frames) expected. False = no memory.
[[nodiscard]] bool find_frame_keys(const model::Recording& recording, FrameKey by, Column<int32_t>& keys);

}  // namespace gpustrata::analysis
