// The ranges of device memory while events are undone: rules and repairs as state_history.h states them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/base/column.h"
#include "engine/model/recording.h"
#include "engine/replay/ordered_set.h"
#include "engine/replay/state_history.h"
#include "engine/replay/undo_notes.h"

namespace gpustrata::replay {

// [start, end), where end stops at 2^64 - 1.
struct Bytes {
  uint64_t start, end;
};
[[nodiscard]] inline Bytes bytes_of(uint64_t address, int64_t size) {
  const uint64_t room = std::numeric_limits<uint64_t>::max() - address;
  return {address, address + std::min(static_cast<uint64_t>(std::max(size, int64_t{0})), room)};
}

class RangeUndo {
 public:
  struct Row {
    uint64_t start, end;
    int32_t begin;  // -1 until its first event is undone
    int32_t last;   // event after which it is gone
    int32_t source;
    uint32_t version;
    StreamId stream;
    PoolId pool;
    bool expandable;
  };

  RangeUndo(const model::Recording& recording, StateHistory& history);

  // Collects the borders of all ranges, then opens those of the dump. False = no memory.
  [[nodiscard]] bool prepare();

  // The event took memory: what is there now was not before it. False = no memory, in all of these.
  [[nodiscard]] bool undo_appearance(int32_t event, Bytes bytes, bool expandable);
  // The event gave memory back: it was there before.
  [[nodiscard]] bool undo_disappearance(int32_t event, Bytes bytes, bool expandable);

  // The open range around an address, null = none. Valid until the next change.
  [[nodiscard]] const Row* containing(uint64_t address) const;
  [[nodiscard]] bool any() const { return !rows_.empty(); }
  // Writes the ranges of the history, and row_of_event of segment events.
  [[nodiscard]] bool finish();
  // Instead of that: those that are open now, by address, as ranges of a history without events.
  [[nodiscard]] bool write_open(StateHistory& out) const;

 private:
  [[nodiscard]] size_t row_of(int32_t event) const {
    return static_cast<size_t>(history_.rows.events.first + event);
  }
  [[nodiscard]] size_t place_of(uint64_t border) const;
  // Cuts the open range around the border in two.
  [[nodiscard]] bool split_at(uint64_t border);
  [[nodiscard]] int32_t open(const Row& row);  // -1 = no memory
  // All open ranges within bytes begin at `begin`. Returns their bytes; `first` is the first one's row.
  [[nodiscard]] bool close_within(Bytes bytes, int32_t begin, uint64_t& covered, int32_t& first);

  const model::Recording& recording_;
  StateHistory& history_;
  UndoNotes notes_;
  Column<uint64_t> borders_{recording_.budget};  // sorted, distinct
  OrderedSet is_open_{recording_.budget};        // places of borders_ where an open range starts
  Column<int32_t> row_at_{recording_.budget};    // per place: the open range that starts there
  // per place: when the next range here appears; event count = never
  Column<int32_t> later_{recording_.budget};
  Column<uint32_t> versions_{recording_.budget};
  Column<Row> rows_{recording_.budget};
};

}  // namespace gpustrata::replay
