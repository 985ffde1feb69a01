// Stacks of a snapshot: from addresses to names, C++ and Python frames in one list.
#pragma once

#include "capture/stacks/raw_stacks.h"
#include "capture/stacks/symbols.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::capture {

// The stack ids of `recording` are those of `raw`; afterwards they are its own, with frames. Order as in
// PyTorch: innermost first, each Python frame just before the C++ frame of the interpreter loop that runs it.
// From Python 3.11 on one loop may run several frames, and nothing public says which: every loop then gets
// one, the outermost all that are left. Frames of this library itself are left out, and those of the module that
// `also_own` is in (null: none).
// Error: limit_exceeded.
[[nodiscard]] Status name_stacks(const RawStacks& raw, model::Recording& recording, Symbols& symbols,
                                 double seconds, const void* also_own = nullptr);

}  // namespace gpustrata::capture
