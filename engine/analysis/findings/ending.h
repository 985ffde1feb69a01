// Whether a recording ends before its program did: at a request that failed, where a journal was not ended, or where its file
// was damaged or cut off. Then what came after is not in it, and what fits into less memory, or helps, may not be enough for the
// whole run.
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

  bool is_open = false;  // Part::is_open
  bool is_cut = false;   // Diagnostics::incomplete()

  [[nodiscard]] bool at_failure() const { return device >= 0; }
  [[nodiscard]] bool is_complete() const { return !at_failure() && !is_open && !is_cut; }
};
// The last failed request after which no device of the part allocates, by the times of events; where they have none, that device
// itself does not. O(events after the last allocation of each device).
[[nodiscard]] Ending find_ending(const model::Recording& recording, const model::Part& part);

// The first event of a device that is the way out of that failure: what is freed from there on, the program would have kept. The
// number of its events where there is none, and where times do not tell for another device. O(events after it).
[[nodiscard]] int32_t first_of_unwinding(const model::Recording& recording, const model::Part& part,
                                         int32_t device);

}  // namespace gpustrata::analysis
