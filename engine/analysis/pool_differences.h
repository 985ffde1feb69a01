// Two states beside each other, a pool a row: what a run under other settings holds where the recording holds something
// else.
//
// Small and large blocks of a pool lie in segments of their own and are rows of their own. O(blocks of both states).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/event_context.h"
#include "engine/replay/memory_at.h"

namespace memstrata::analysis {

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

// In the order of pools, large blocks first.
[[nodiscard]] std::vector<PoolDifference> pool_differences(const EventContext& recorded,
                                                           const replay::MemoryAt& recorded_memory,
                                                           const EventContext& simulated,
                                                           const replay::MemoryAt& simulated_memory);

}  // namespace memstrata::analysis
