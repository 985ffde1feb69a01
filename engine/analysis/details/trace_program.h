// The history of a device as the steps of a program with variables: blocks and segments are numbered when
// they are first met, a number belongs to one life. `gpustrata trace`.
#pragma once

#include <cstdint>

#include "engine/analysis/device/event_context.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/ordered_set.h"

namespace gpustrata::analysis {

struct TraceStep {
  int32_t event = 0;
  trace::Action action{};
  uint64_t address = 0;  // oom: the device's free bytes
  int64_t size = 0;
  int32_t block = -1;    // number of the block's life; -1 = the history does not know it
  int32_t segment = -1;  // number of the segment's life; of an alloc: where it lies, -1 = in none
  uint64_t offset = 0;   // alloc: in that segment
};

// Walks from the first event to the last: O(events log64 segments) in all.
class TraceProgram {
 public:
  // Error: limit_exceeded. The context must outlive it.
  [[nodiscard]] static Result<TraceProgram> of(const EventContext& context);

  [[nodiscard]] bool done() const { return next_ >= context_.history.event_count(); }
  // Not if done().
  [[nodiscard]] TraceStep step();

 private:
  explicit TraceProgram(const EventContext& context);
  void move_to(int32_t event);
  // Row of the range that exists now and holds the address, -1 = none.
  [[nodiscard]] int32_t range_around(uint64_t address) const;

  EventContext context_;
  int32_t next_ = 0;
  int32_t next_block_ = 0, next_segment_ = 0;
  Column<int32_t> block_numbers_, segment_numbers_;  // per row of the history, -1 = not met yet
  Column<int32_t> by_address_;                       // rows of ranges
  Column<int32_t> place_;                            // per row, its position in by_address_
  replay::OrderedSet there_;                         // positions of ranges that exist now
  int32_t now_ = -2;
};

}  // namespace gpustrata::analysis
