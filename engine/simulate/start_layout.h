// Device memory as it was before the first request: what a recording that began later found there.
//
// Segments in ascending order; ranges and blocks of one lie within it and ascend. All ends are at or below
// alloc::SimulatedDevice::kHighestAddress.
#pragma once

#include <cstdint>

#include "engine/alloc/device_allocator.h"
#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/model/table.h"

namespace gpustrata::simulate {

struct StartLayout {
  explicit StartLayout(Budget& budget)
      : segments(budget), ranges(budget), blocks(budget), is_pending(budget) {}

  struct Segment {
    alloc::SegmentInfo info;  // expandable: size of the reservation
    PoolId pool;              // the same pool, of the recording
    int64_t page_size = 0;    // expandable
    model::RowRange ranges;   // expandable: those with memory; else empty
    model::RowRange blocks;   // in use
  };
  Column<Segment> segments;
  Column<alloc::AdoptedRange> ranges;
  Column<alloc::AdoptedBlock> blocks;
  Column<uint8_t> is_pending;  // by block: its free was requested before, another stream still used it
  int64_t reserved = 0;        // bytes of segments and ranges
};

}  // namespace gpustrata::simulate
