// Segments and blocks after one event, in address order: a StateHistory read at one place.
//
// Blocks tile their segment: what no block uses is an inactive block, one between two blocks in use, as the
// allocator keeps it. Pieces of an expandable segment that touch are one segment, as in the files, unless the
// dump lists them apart.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/column.h"
#include "engine/replay/state_history.h"

namespace gpustrata::replay {

struct BlockAt {
  uint64_t address = 0;
  int64_t size = 0;
  int64_t requested_size = 0;  // 0 if inactive
  int32_t row = -1;            // of StateHistory::blocks, -1 = inactive
  model::BlockState state = model::BlockState::inactive;
};

struct SegmentAt {
  uint64_t address = 0;
  int64_t size = 0;
  int32_t row = -1;  // of StateHistory::ranges: the piece with the lowest address
  int32_t first_block = 0;
  int32_t block_count = 0;
};

// Bytes; each at most 2^63 - 1.
struct TotalsAt {
  int64_t reserved = 0;      // segments
  int64_t allocated = 0;     // blocks in use
  int64_t active = 0;        // the same and pending ones
  int64_t requested = 0;     // as active, before rounding
  int64_t largest_free = 0;  // largest inactive block
  int64_t free_blocks = 0;   // their number
  int64_t live_blocks = 0;
};

// The state after one event, kept while it moves from event to event. O(live blocks + changes) a move.
class MemoryAt {
 public:
  explicit MemoryAt(const StateHistory& history, Budget& budget);

  // -1 = before the first event; events beyond the last are the last. False = no memory.
  [[nodiscard]] bool go_to(int32_t event);
  [[nodiscard]] int32_t event() const { return event_; }
  [[nodiscard]] std::span<const SegmentAt> segments() const { return segments_.span(); }
  [[nodiscard]] std::span<const BlockAt> blocks() const { return blocks_.span(); }
  [[nodiscard]] std::span<const BlockAt> blocks_of(const SegmentAt& segment) const {
    return blocks().subspan(static_cast<size_t>(segment.first_block),
                            static_cast<size_t>(segment.block_count));
  }
  // Blocks that lie in no segment: segment events are missing.
  [[nodiscard]] std::span<const BlockAt> outside() const { return outside_.span(); }
  [[nodiscard]] const TotalsAt& totals() const { return totals_; }

 private:
  [[nodiscard]] bool move_rows(const SpanHistory& spans, Column<int32_t>& rows, int32_t event) const;
  [[nodiscard]] bool assemble();
  [[nodiscard]] bool is_continued(int32_t row, int32_t next) const;
  [[nodiscard]] bool add_segment(int32_t first_piece, uint64_t end, size_t& next_block);
  [[nodiscard]] bool add_free(uint64_t from, uint64_t until);
  [[nodiscard]] BlockAt block_at(int32_t row) const;
  void count(const BlockAt& block);

  const StateHistory& history_;
  int32_t event_ = -2;  // none yet
  Column<int32_t> live_, pieces_, shown_;
  Column<SegmentAt> segments_;
  Column<BlockAt> blocks_, outside_;
  TotalsAt totals_;
};

// Stack of the request that needed the range; of the event that gave it back if nothing better is known.
[[nodiscard]] StackId stack_of_range(const model::Recording& recording, const StateHistory& history,
                                     int32_t range);

}  // namespace gpustrata::replay
