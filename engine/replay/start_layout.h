// What a recording found when it began, as a run of its requests needs it (simulate/start_layout.h).
#pragma once

#include "engine/base/status.h"
#include "engine/replay/state_history.h"
#include "engine/simulate/start_layout.h"

namespace gpustrata::replay {

// The state before the first event. Of expandable segments the mapped pages of one stream, pool and kind are put into
// reservations: from the lowest page that is mapped into them while those are, as large as one of a device of
// `device_bytes`, or up to where something else is recorded. What cannot have been (overlaps, addresses beyond what is
// allowed, pages that do not line up) is left out or becomes an ordinary segment. O(blocks + ranges). Error:
// limit_exceeded.
[[nodiscard]] Result<simulate::StartLayout> start_layout(const model::Recording& recording,
                                                         const StateHistory& history, int64_t device_bytes);

}  // namespace gpustrata::replay
