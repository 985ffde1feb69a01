// Segments as bands (the official Active Cached Segment Timeline, with segment_map and segment_unmap): one
// band per piece of device memory that appears and disappears as a whole.
#pragma once

#include <cstdint>

#include "engine/base/status.h"
#include "engine/replay/bands.h"
#include "engine/replay/state_history.h"

namespace gpustrata::replay {

// Pieces from the start first (those that end last at the bottom), then by event. `level` and `reserved` are
// bytes of device memory, nothing is pending.
struct SegmentBands : Bands {
  explicit SegmentBands(Budget& budget)
      : Bands(budget), address(budget), version(budget), range_of_rank(budget) {}

  int32_t from_start = 0;  // ranks [0, from_start) existed before the first event
  Column<uint64_t> address;
  Column<uint32_t> version;       // the N of s'addr_N
  Column<int32_t> range_of_rank;  // rows of StateHistory::ranges
};

// Error: limit_exceeded.
[[nodiscard]] Result<SegmentBands> segment_bands(const model::Recording& recording,
                                                 const StateHistory& history);

}  // namespace gpustrata::replay
