// Two states beside each other: what a run under other settings holds where the recording holds something else. By pool,
// and segment by segment.
//
// Small and large blocks of a pool lie in segments of their own and are rows of their own. Segments are the same where
// they begin at the same address: a run has the recorded addresses until it asks the device for something else.
// O(blocks of both states).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/device/event_context.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostSegmentDifferences = 200;

struct PoolUse {
  int64_t segments = 0;
  int64_t reserved = 0;      // bytes of them
  int64_t used = 0;          // of blocks in use or waiting to be freed
  int64_t largest_free = 0;  // free block
};

struct PoolDifference {
  model::Pool pool;  // the default one is (0, 0), or not told
  bool small = false;
  PoolUse recorded, simulated;
};

struct SegmentDifference {
  uint64_t address = 0;
  model::Pool pool;  // of the recorded one, if it is there
  bool small = false;
  PoolUse recorded, simulated;  // `segments` is 1; 0 = it is not there
};

struct StateDifferences {
  std::vector<PoolDifference> pools;  // in their order, large blocks first
  // That differ in something: most bytes reserved here and not there first, then most bytes used so, then by address.
  std::vector<SegmentDifference> segments;  // at most kMostSegmentDifferences
  int64_t left_out = 0;                     // further ones that differ
  int64_t same = 0;                         // as large, as full and with the same largest free block in both
};

[[nodiscard]] StateDifferences state_differences(const EventContext& recorded,
                                                 const replay::MemoryAt& recorded_memory,
                                                 const EventContext& simulated,
                                                 const replay::MemoryAt& simulated_memory);

}  // namespace gpustrata::analysis
