// What a recorded program must have asked of its allocator, told from the trace of one device.
//
// A trace says which blocks were handed out and given back, and what the allocator did for it. The requests are:
//   alloc, oom          allocate; of an oom the rounded size, for the asked one is not written
//   free_requested      free. If its completion does not follow at once, another stream used the block: it is recorded to
//                       do so before, and its work is finished where the completion stands
//   free_completed      of a block without free_requested: free
//   segment_free and segment_unmap in a run that no segment_alloc, segment_map or oom follows: empty_cache. In a run that
//                       one follows they are what the allocator did before it asked the device again: no request, but
//                       the device cannot have been larger
//   snapshot            snapshot
// Private pools are routed to around what the trace says came from them, and released where their segments are freed
// for good. Whatever else the trace has is a result.
//
// What is not in the trace is guessed, and counted. Blocks from before the recording are asked for at the start, in
// address order, so they may lie elsewhere than they did.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/simulate/request_log.h"

namespace memstrata::simulate {

enum class Guess : uint8_t {
  earlier_blocks,  // from before the recording: where they lay among each other, and what was cached around them
  other_streams,   // late completions: which stream used the block
  pool_changes,    // times that requests began to come from a private pool: since when is not recorded
  pool_releases,   // a pool's users left: when is not recorded
  emptied_caches,  // runs of freed segments that nothing explains but empty_cache()
  device_limits,  // runs of freed segments before more was asked of the device: it was full, or a limit was met
  failed_sizes,      // an oom tells its size rounded up
  unknown_frees,     // a block freed that is not known to live, or twice: left out
  reused_addresses,  // a block handed out where one lives: that one is freed before
  kCount,
};
// snake_case, part of the command's JSON.
[[nodiscard]] std::string_view name_of(Guess guess);

struct RecordedRequests {
  explicit RecordedRequests(Budget& budget) : log(budget), event(budget) {}

  RequestLog log;  // its texts and stacks are ids of the recording
  Column<int32_t>
      event;  // by request: the row of EventTable that it is told from; -1 = from before the recording
  std::array<int64_t, static_cast<size_t>(Guess::kCount)> guesses{};

  // Sizes of a device on which the same would have happened: what was reserved at most, and the least that did not fit.
  int64_t least_capacity = 0;
  int64_t most_capacity = INT64_MAX;
};

// Of a part with events. `capacity`: bytes that the device had for the allocator; 0 = unknown, then a device that could
// have been full was. O(events + blocks); memory: about 100 bytes an event. Error: limit_exceeded.
[[nodiscard]] Result<RecordedRequests> recorded_requests(const model::Recording& recording,
                                                         const model::Part& part, int32_t device,
                                                         Budget& budget, int64_t capacity = 0);

}  // namespace memstrata::simulate
