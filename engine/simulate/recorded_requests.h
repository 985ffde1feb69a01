// What a recorded program must have asked of its allocator, told from the trace of one device.
//
// A trace says which blocks were handed out and given back, and what the allocator did for it. The requests are:
//   (the start)         the blocks of the StartLayout, where they lay
//   alloc, oom          allocate, from the pool of the event; of an oom the rounded size, for the asked one is not written
//   free_requested      free. If its completion does not follow at once, another stream used the block: it is recorded to
//                       do so before, and its work is finished where the completion stands
//   free_completed      of a block without free_requested: free
//   segment_free and segment_unmap in a run that no segment_alloc, segment_map or oom follows: empty_cache. In a run that
//                       one follows they may be what the allocator did before it asked the device again: no request,
//                       but the device, or the limit, cannot have been larger. See Reading.
//   snapshot            snapshot
// Private pools are released where their segments are freed for good. Whatever else the trace has is a result.
//
// What is not in the trace is guessed, and counted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/alloc/config.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/simulate/request_log.h"
#include "engine/simulate/start_layout.h"

namespace gpustrata::simulate {

enum class Guess : uint8_t {
  placed_blocks,    // from before the recording, and where they lay: cuts between cached blocks are not known
  unplaced_blocks,  // from before the recording, in no known segment: asked for at the start
  other_streams,    // late completions: which stream used the block
  pools_by_address,  // blocks of which only the final segments tell the pool
  pool_releases,     // a pool's user left: when is not recorded
  emptied_caches,    // runs of freed segments taken for empty_cache()
  device_limits,  // runs of freed segments before more was asked of the device: it was full, or a limit was met
  failed_sizes,      // an oom tells its size rounded up
  unknown_frees,     // a block freed that is not known to live, or twice: left out
  reused_addresses,  // a block handed out where one lives: that one is freed before
  kCount,
};
// snake_case, part of the command's JSON.
[[nodiscard]] std::string_view name_of(Guess guess);

// What a run of freed segments was where nothing tells. Stacks decide where there are any, before more is asked of the
// device: what the allocator gives back for a request has the request's.
enum class Reading : uint8_t {
  by_room,      // a full device if the request does not fit into what is known, or was reserved at most
  by_pool,      // the same; and what frees segments of one private pool only was the end of that pool
  all_emptied,  // empty_cache()
  all_full,     // a full device
};

struct TellOptions {
  alloc::Config config = {};  // the recorded settings
  int64_t capacity = 0;       // bytes that the device had for the allocator; 0 = unknown
  Reading reading = Reading::by_room;
};

struct RecordedRequests {
  explicit RecordedRequests(Budget& budget) : start(budget), log(budget), event(budget) {}

  StartLayout start;
  RequestLog log;  // its texts and stacks are ids of the recording
  Column<int32_t>
      event;  // by request: the row of EventTable that it is told from; -1 = from before the recording
  std::array<int64_t, static_cast<size_t>(Guess::kCount)> guesses{};
  int64_t present =
      0;  // rows at the beginning that set up what was there: they are no requests of the recording
  int64_t unclear = 0;  // runs of freed segments that only the Reading decided

  // Sizes of a device on which the same would have happened: what was reserved at most, and the least that did not fit.
  int64_t least_capacity = 0;
  int64_t most_capacity = INT64_MAX;
  // A request failed although the device had enough for it: there was a limit, of which only this range is known.
  bool is_limited = false;

  [[nodiscard]] int64_t guesses_of(Guess guess) const { return guesses[static_cast<size_t>(guess)]; }
  // Those that were made: visit(guess, count).
  template <typename Visit>
  void for_each_guess(Visit&& visit) const {
    for (size_t i = 0; i < guesses.size(); ++i) {
      if (guesses[i] > 0) visit(static_cast<Guess>(i), guesses[i]);
    }
  }
};

// Of a part with events. `start`: what was there before the first of them. O(events + blocks); memory: about 100 bytes an
// event. Error: limit_exceeded.
[[nodiscard]] Result<RecordedRequests> recorded_requests(const model::Recording& recording,
                                                         const model::Part& part, int32_t device,
                                                         StartLayout start, const TellOptions& options,
                                                         Budget& budget);

}  // namespace gpustrata::simulate
