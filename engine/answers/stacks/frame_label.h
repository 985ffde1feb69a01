// A line, function or file of the program in words, and as a filter that means its blocks.
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/stacks/frame_keys.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "forward model.py:96", "forward model.py", "nn/model.py"; of autograd nodes and operators their names. At most 120 bytes
// a part.
[[nodiscard]] std::string frame_label(const model::Recording& recording, analysis::FrameKey by,
                                      FrameId frame);

// call:"/run/model.py:96:forward" with `field` call or who (analysis/filters/filter_syntax.h); empty: no filter may be as long.
[[nodiscard]] std::string frame_filter(std::string_view field, const model::Recording& recording,
                                       analysis::FrameKey by, FrameId frame);
// Blocks without a stack.
[[nodiscard]] std::string no_stack_filter();

}  // namespace gpustrata::answers
