// Requests that a device could not serve: its `oom` events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace gpustrata::analysis {

struct OomEvents {
  int64_t count = 0;            // of all
  std::vector<int32_t> events;  // the first of them, counted from the device's first event
};

// O(events of the device).
[[nodiscard]] OomEvents find_oom_events(const model::Recording& recording, model::RowRange events,
                                        size_t most);

// What the device had for this process: reserved and free together at its last out of memory, where the event says what was
// free and that was less than the request; else a limit was reached, or the number is of something else. O(events).
[[nodiscard]] std::optional<int64_t> capacity_at_last_oom(const model::Recording& recording,
                                                          const replay::Bands& lives);

}  // namespace gpustrata::analysis
