// Things that occupy addresses from one event to another: blocks, and pieces of segments.
//
// A span exists in the states after events e with begin <= e < end; begin -1 is the state before the first
// event, end = event_count is never. Rows are numbered by begin. The live rows after any event, in address
// order, follow from the nearest checkpoint and the changes since. Checkpoints are set so that all of them
// together hold at most one row per change, and a question costs O(live rows + changes of one interval),
// where an interval has at most max(4096, live rows) changes.
#pragma once

#include <cstdint>

#include "engine/base/column.h"

namespace gpustrata::replay {

class SpanHistory {
 public:
  explicit SpanHistory(Budget& budget);

  Column<uint64_t> address;
  Column<int64_t> size;  // bytes > 0
  Column<int32_t> begin;
  Column<int32_t> end;

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(begin.size()); }
  [[nodiscard]] uint64_t last_byte(int32_t row) const {
    return address[row] + static_cast<uint64_t>(size[row] - 1);
  }
  [[nodiscard]] bool exists_after(int32_t row, int32_t event) const {
    return begin[row] <= event && event < end[row];
  }
  // Rows that begin in events (after, until]. O(log rows).
  struct Rows {
    int32_t first, last;  // [first, last)
  };
  [[nodiscard]] Rows beginning_in(int32_t after, int32_t until) const;
  // Rows that end in events (after, until], as positions in by_end. O(log rows).
  [[nodiscard]] Rows ending_in(int32_t after, int32_t until) const;
  [[nodiscard]] int32_t by_end(int32_t position) const { return by_end_[position]; }

  // Called once, when the columns are full and in order of begin. False = no memory. SpanIndexer does it in
  // pieces.
  [[nodiscard]] bool index(int32_t event_count);
  // Replaces `rows` by the live rows after the event in address order. False = no memory.
  [[nodiscard]] bool live_after(int32_t event, Column<int32_t>& rows) const;
  // From the live rows after `from` to those after `to`, either before or after it. O(live rows + changes).
  [[nodiscard]] bool move(Column<int32_t>& rows, int32_t from, int32_t to) const;
  [[nodiscard]] int64_t changes_between(int32_t from, int32_t to) const;

 private:
  friend class SpanIndexer;
  struct Checkpoint {
    int32_t event;
    int64_t first_row;  // in live_
    int64_t rows;
  };
  [[nodiscard]] bool comes_before(int32_t a, int32_t b) const;

  Budget* budget_;
  int32_t event_count_ = 0;
  Column<int32_t> by_end_;
  Column<Checkpoint> checkpoints_;
  Column<int32_t> live_;
  mutable Column<int32_t> scratch_;
};

// SpanHistory::index() for who must not wait long.
class SpanIndexer {
 public:
  // The columns of `spans` are full; it does not move meanwhile.
  SpanIndexer(SpanHistory& spans, int32_t event_count);

  // Works on about so many rows or events, at least on one piece. False = no memory.
  [[nodiscard]] bool step(int64_t work);
  [[nodiscard]] bool is_done() const { return phase_ == Phase::done; }
  [[nodiscard]] double share() const;  // that is done, about: from 0 to 1; never falls

 private:
  enum class Phase : uint8_t { room, count, sum, place, initial, checkpoints, done };

  [[nodiscard]] size_t slot(size_t row) const { return static_cast<size_t>(spans_.end[row] + 1); }
  [[nodiscard]] size_t pieces() const;  // of the phase; 0 = it is one
  [[nodiscard]] bool take_initial();
  // The next one and all before it are there; the phase ends with the last.
  [[nodiscard]] bool add_checkpoint();

  SpanHistory& spans_;
  Phase phase_ = Phase::room;
  size_t at_ = 0;          // of the phase
  Column<int32_t> start_;  // per slot: where the next row that ends there goes
  Column<int32_t> now_;    // live rows after event_
  int32_t event_ = -1;
};

}  // namespace gpustrata::replay
