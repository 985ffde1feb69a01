// Lifetimes: which block lived from which event to which, on one device, by the rule of the active memory
// timeline of PyTorch's own viewer.
//
//  - `alloc` opens a block of the event's (requested) size; `free_completed` at its address ends it.
//  - A `free_completed` without an open alloc is a block that existed from the start.
//  - A final `active_allocated` block without an open alloc existed from the start, with its requested_size.
//    Final `active_pending_free` blocks without an alloc in the trace are left out.
//  - An alloc at a live address ends the earlier block at that event (diagnostic alloc_of_live_address).
//  - A trace without any free_completed counts free_requested as the free (diagnostic requests_only).
//  - A size that would lift the level over kMaxLevel counts as 0 (diagnostic level_overflow).
//
// Blocks are numbered in stack order ("rank"): 0 is the lowest band. First those from the start, in reverse
// order of discovery (frees in event order, then final blocks in file order), then allocs in event order.
// A new alloc is always on top, so this order never changes, and the offset of a block at an event is the
// sum of the sizes of live blocks of lower rank.
//
// Time: O(events + blocks). Memory: about 20 bytes per block and 8 bytes per event.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace memstrata::replay {

inline constexpr int64_t kMaxLevel = int64_t{1} << 53;  // sums stay exact in a double

// Values that change at few events: value after event e = value of the last step at or before e.
struct StepSeries {
  explicit StepSeries(Budget& budget) : event(budget), value(budget) {}
  int64_t initial = 0;
  Column<int32_t> event;  // ascending
  Column<int64_t> value;

  // Value after `event`; -1 asks for the value before the first event. O(log steps).
  [[nodiscard]] int64_t at(int32_t event_index) const;
};

struct Lifetimes {
  explicit Lifetimes(Budget& budget);

  int32_t device = 0;
  model::RowRange events;  // rows of EventTable; event indices below are relative to events.first
  int32_t from_start = 0;  // ranks [0, from_start) existed before the first event

  // Per rank.
  Column<int64_t> size;      // bytes, >= 0
  Column<int32_t> born;      // event of the alloc; -1 = from the start
  Column<int32_t> freed;     // event of the (completed) free; events.count = never
  Column<uint32_t> version;  // completed frees of that address before, per device: the N of b'addr_N
  Column<int32_t> source;  // from the start only: row of BlockTable for a final block, -1 = known by its free
  // Only of bands that are not blocks (segment_lifetimes.h); else the address follows from source or event.
  Column<uint64_t> given_address;

  // Per event.
  Column<int64_t> level;  // bytes in live blocks after the event

  StepSeries reserved;  // bytes in segments; starts at final sum - maps/allocs + unmaps/frees
  StepSeries pending;   // bytes requested to be freed but not completed (adjacent pairs not counted)

  model::Diagnostics diagnostics;  // what had to be repaired

  int64_t initial_level = 0;
  int64_t final_level = 0;
  int64_t peak_level = 0;
  int32_t peak_event = -1;  // earliest; -1 = the initial state

  [[nodiscard]] int32_t block_count() const { return static_cast<int32_t>(size.size()); }
  [[nodiscard]] int64_t level_after(int32_t event) const {
    return event < 0 ? initial_level : level[static_cast<size_t>(event)];
  }
  // Address of a rank. O(1).
  [[nodiscard]] uint64_t address(const model::Recording& recording, int32_t rank) const;
  // Rank allocated by that event, -1 if it is no alloc. O(log blocks).
  [[nodiscard]] int32_t rank_born_at(int32_t event) const;
};

// Error: limit_exceeded.
[[nodiscard]] Result<Lifetimes> find_lifetimes(const model::Recording& recording,
                                               const model::Snapshot& snapshot, int32_t device);

}  // namespace memstrata::replay
