// Requests that a device could not serve: its `oom` events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct OomEvents {
  int64_t count = 0;            // of all
  std::vector<int32_t> events;  // the first of them, counted from the device's first event
};

// O(events of the device).
[[nodiscard]] OomEvents find_oom_events(const model::Recording& recording, model::RowRange events,
                                        size_t most);

}  // namespace gpustrata::analysis
