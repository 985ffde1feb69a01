// How often the allocator gave cached memory back to the device, and why: runs of segment_free and segment_unmap.
//
//   retry   a request follows that needs more of the device (segment_alloc, segment_map, oom): the device, or a limit, was
//           full, and what was cached went back to make room. The program waited for the device meanwhile.
//   flush   none follows: empty_cache(), a collection of garbage, or a pool that was let go
//
// A recording does not say which; a flush right before more is asked for looks like a retry. O(events).
#pragma once

#include <cstdint>

#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

struct CacheFlushes {
  int64_t retries = 0, flushes = 0;                // runs
  int64_t retry_bytes = 0, flush_bytes = 0;        // given back
  int32_t first_retry = -1, first_flush = -1;      // the first event of the first run; -1 = none
  int32_t largest_retry = -1, largest_flush = -1;  // of the run that gave most back, of equal ones the first
};

[[nodiscard]] CacheFlushes find_cache_flushes(const model::Recording& recording,
                                              const replay::DeviceRows& rows);

}  // namespace gpustrata::analysis
