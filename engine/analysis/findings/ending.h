// Whether a recording ends at a request that failed: then what came after is not in it, and what fits into less memory, or helps,
// may not be enough for the whole run.
//
// A program that fails frees memory on its way out; one that catches the error and goes on asks for memory again, on this
// device or another.
#pragma once

#include <cstdint>

#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct Ending {
  int32_t device = -1;  // -1 = the part does not end so
  int32_t event = -1;   // of that device

  [[nodiscard]] bool at_failure() const { return device >= 0; }
};
// The last failed request after which no device of the part allocates, by the times of events; where they have none, that device
// itself does not. O(events after the last allocation of each device).
[[nodiscard]] Ending find_ending(const model::Recording& recording, const model::Part& part);

}  // namespace gpustrata::analysis
