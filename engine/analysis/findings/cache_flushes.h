// How often the allocator gave cached memory back to the device, and why: runs of segment_free and segment_unmap.
//
//   retry    the request that follows asked for it (segment_alloc, segment_map of the same stack): the device, or a limit, was
//            full, and what was cached went back to make room. The program waited for the device meanwhile.
//   failed   the same, and it was of no use: `oom` follows, in expandable segments perhaps after a part was mapped
//   flush    a frame is empty_cache; or nothing that needs more of the device follows: empty_cache(), a collection of garbage,
//            or a pool that was let go
//   unclear  more is asked of the device next, and no stack tells whether for that: older versions of PyTorch give the events
//            the stack that allocated the segment; or garbage is collected
// Where nothing is cached, each allocation being one of the device's, nothing is found. O(events + frames of their stacks).
#pragma once

#include <cstdint>

#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

struct CacheFlushes {
  struct Runs {
    int64_t count = 0;
    int64_t bytes = 0;     // given back
    int32_t first = -1;    // the first event of the first run; -1 = none
    int32_t largest = -1;  // of the run that gave most back, of equal ones the first
    int64_t largest_bytes = -1;
  };
  Runs retries, failed, flushes, unclear;
};

// `collects_garbage`: as the settings say.
[[nodiscard]] CacheFlushes find_cache_flushes(const model::Recording& recording,
                                              const replay::DeviceRows& rows, bool collects_garbage);

}  // namespace gpustrata::analysis
