// Remedies tried: the recorded run is run again with the setting (what_if.h), on a device as large as the recorded one
// must have been.
//
// Only what the allocator itself does is tried: expandable_segments. A try counts where the run as it was recorded
// repeats with as many requests out of memory; what the program would have done next is not known.
#pragma once

#include "engine/analysis/findings/out_of_memory.h"
#include "engine/analysis/what_if/what_if.h"

namespace gpustrata::analysis {

// The last explained event has such a remedy.
[[nodiscard]] bool has_remedy_to_try(const OutOfMemoryEvents& events);

// Sets Remedy::confirmed of the last explained event. Two runs. What cannot be run stays as it is, also where memory or
// `goes_on` ends it.
void confirm_remedies(const Rehearsal& rehearsal, OutOfMemoryEvents& events, Budget& budget,
                      const GoesOn& goes_on = {});

}  // namespace gpustrata::analysis
