// A recording without the words of the program that was recorded: for a report of a defect, or a question to others.
//
// Replaced, the same by the same: files (`file_3.py`), functions (`function_7`), regions (`region_2`), metadata and every
// other text that the program gave (`text_5`). Kept: all numbers (sizes, addresses, times, lines, streams, pools), the
// order and nesting of everything, words of PyTorch's own: actions, settings of the allocator, categories, `ProfilerStep#N`,
// and of frames that lie in the installed torch the path from `torch/` on and the function's name, which keeps its name where
// the program has one that is called the same.
#pragma once

#include <cstdint>

#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::model {

struct Replaced {
  int64_t files = 0, functions = 0, regions = 0, texts = 0;  // different ones
  int64_t kept_files = 0;                                    // of torch
};

// In place; frames, stacks and rows keep their ids. Error: limit_exceeded (then it is of no use), wrong_usage: a part is
// no snapshot.
[[nodiscard]] Result<Replaced> anonymize(Recording& recording);

}  // namespace gpustrata::model
