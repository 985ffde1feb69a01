// Which block lived from which event to which, on one device, by the rule of the active memory
// timeline of PyTorch's own viewer.
//
//  - `alloc` opens a block of the event's (requested) size; `free_completed` at its address ends it.
//  - A `free_completed` without an open alloc is a block that existed from the start.
//  - A final `active_allocated` block without an open alloc existed from the start, with its requested_size.
//    Final `active_pending_free` blocks without an alloc in the trace are left out.
//  - A block that the trace says was there before (DeviceTrace::from_start) existed from the start to the end.
//  - An alloc at a live address ends the earlier block at that event (diagnostic alloc_of_live_address).
//  - An alloc that nothing frees lasts to the end; if the final segments of the device do not have it, they
//    contradict the events (diagnostic alloc_without_end).
//  - A trace without any free_completed counts free_requested as the free (diagnostic requests_only), but of blocks that wait in the
//    final state.
//  - A size that would lift the level over kMaxLevel counts as 0 (diagnostic level_overflow).
//
// Blocks are numbered in stack order ("rank"): 0 is the lowest band. First those from the start, in reverse
// order of discovery (frees in event order, then final blocks in file order), then allocs in event order.
// A new alloc is always on top, so this order never changes, and the offset of a block at an event is the
// sum of the sizes of live blocks of lower rank.
//
// Time: O(events + blocks). Memory: about 20 bytes per block, 8 per event and 8 per request that is not right
// before its completion.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"

namespace gpustrata::replay {

// `reserved` starts at the final sum less the net of the segment events, or is what a profiler said with each
// record; `pending` are bytes requested to be freed but not completed (adjacent pairs not counted). A block from
// the start whose completion has no request in the trace, while others have one, was requested before it.
struct BlockLives : Bands {
  explicit BlockLives(Budget& budget);

  bool profiled = false;  // told by a profiler (model::Capabilities)

  int32_t from_start = 0;    // ranks [0, from_start) existed before the first event
  Column<uint32_t> version;  // completed frees of that address before, per device: the N of b'addr_N
  Column<int32_t> source;  // from the start only: row of BlockTable for a final block, -1 = known by its free

  // Requests that are not right before the completion, by rank. Event -1: the block waits from the start; the number
  // of events: it waits in the end; nothing in the trace asked for either.
  struct Request {
    int32_t rank;
    int32_t event;
  };
  Column<Request> early_requests;

  // Event that asked for the block's free, however long before the completion: `free_requested`, or the
  // `free` that is both. The first one if it was asked twice; -1 = not in the trace. O(log requests).
  [[nodiscard]] int32_t requested(const model::Recording& recording, int32_t rank) const;
  // Address of a rank. O(1).
  [[nodiscard]] uint64_t address(const model::Recording& recording, int32_t rank) const;
  // Rank allocated by that event, -1 if it is no alloc. O(log blocks).
  [[nodiscard]] int32_t rank_born_at(int32_t event) const;
};

// Error: limit_exceeded.
[[nodiscard]] Result<BlockLives> find_block_lives(const model::Recording& recording, const model::Part& part,
                                                  int32_t device);

}  // namespace gpustrata::replay
