// Segments as the bands of a timeline (the official Active Cached Segment Timeline, with segment_map and
// segment_unmap): one band per piece of device memory that appears and disappears as a whole.
#pragma once

#include "engine/base/status.h"
#include "engine/replay/lifetimes.h"
#include "engine/replay/state_history.h"

namespace memstrata::replay {

// Ranks as in lifetimes.h: pieces from the start first (those that end last at the bottom), then by event.
// `level` and `reserved` are bytes of device memory, nothing is pending, `version` is that of s'addr_N,
// `source` is -1; `row_of_rank` gives the rows of history.ranges. Error: limit_exceeded.
struct SegmentLifetimes {
  explicit SegmentLifetimes(Budget& budget) : lifetimes(budget), row_of_rank(budget) {}
  Lifetimes lifetimes;
  Column<int32_t> row_of_rank;
};
[[nodiscard]] Result<SegmentLifetimes> segment_lifetimes(const model::Recording& recording,
                                                         const StateHistory& history);

}  // namespace memstrata::replay
