// Steps without annotations: the period in which call sites come back (steps.h).
//
// A call site is a node of the stack tree: a frame with all its callers. It is entered when an allocation lies under
// it and the one before does not. Call sites of one loop are entered equally often, so numbers of entries are voted
// for, each call site with the allocations below it, unless its caller has the same number already. A layer's
// loop is no step: below torch.nn.Module, an optimizer, autograd or a function called forward or backward only
// the first call counts. Where the recording has Python frames, only those are call sites, and only of the
// program's own thread: autograd's come in between at any time.
#pragma once

#include "engine/analysis/steps/steps.h"

namespace gpustrata::analysis {

// Fills `found` if there is a period. False = no memory.
[[nodiscard]] bool find_period(const model::Recording& recording, const replay::DeviceRows& rows,
                               Steps& found);

}  // namespace gpustrata::analysis
