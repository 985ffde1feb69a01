// The blocks while events are undone: rules and repairs as state_history.h states them.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/model/recording.h"
#include "engine/replay/event_addresses.h"
#include "engine/replay/ordered_set.h"
#include "engine/replay/range_undo.h"
#include "engine/replay/state_history.h"
#include "engine/replay/undo_notes.h"

namespace gpustrata::replay {

class BlockUndo {
 public:
  BlockUndo(const model::Recording& recording, StateHistory& history, const RangeUndo& ranges);

  // In this order, what takes events in as many pieces as wanted. False = no memory, in all of these.
  [[nodiscard]] bool read_events(int32_t first, int32_t end);
  [[nodiscard]] bool sort_addresses();
  void count_frees(int32_t first, int32_t end);
  [[nodiscard]] bool open_final_blocks();
  // Then the events are undone from the last one on.
  [[nodiscard]] bool undo_alloc(int32_t event);
  [[nodiscard]] bool undo_free_requested(int32_t event);
  [[nodiscard]] bool undo_free_completed(int32_t event);
  void undo_annotate(int32_t event);
  // There was no memory before, or no block after, the event: blocks in these bytes came later.
  void close_within(Bytes bytes, int32_t event);
  // Then the blocks of the history are written, and row_of_event of block events; in this order, too.
  [[nodiscard]] bool settle_all();
  [[nodiscard]] size_t row_count() const { return rows_.size(); }
  void write_rows(size_t first, size_t end);
  void number_events(int32_t first, int32_t end);

 private:
  static constexpr int32_t kUnset = -2;  // pending_from: no request met yet
  struct Row {
    uint64_t address;
    int64_t size;  // of the dump; else kUnknownSize until the block is closed
    int64_t requested_size;
    uint64_t room;  // smallest distance to the end of free memory behind it so far
    int32_t begin, end, pending_from, source;
    uint32_t version;
  };

  [[nodiscard]] uint64_t address_of(int32_t event) const { return recording_.events.address[row_of(event)]; }
  [[nodiscard]] int64_t size_of(int32_t event) const {
    return std::max(recording_.events.size[row_of(event)], int64_t{0});
  }
  [[nodiscard]] size_t row_of(int32_t event) const {
    return static_cast<size_t>(history_.rows.events.first + event);
  }
  [[nodiscard]] size_t place_of(int32_t event) const {
    return static_cast<size_t>(addresses_.of_event(static_cast<size_t>(event)));
  }
  [[nodiscard]] Row* open_at(size_t place) {
    return is_open_.contains(place) ? &rows_[row_at_[place]] : nullptr;
  }
  // Bytes that are certainly the block's.
  [[nodiscard]] static uint64_t certain_end(const Row& row);
  // The block is in use from before `event` on. `row.room` is set here.
  [[nodiscard]] static bool exists(const Row& row) { return row.begin < row.end && row.size > 0; }
  [[nodiscard]] bool open(size_t place, Row row, int32_t event);
  void close(size_t place, int32_t begin);
  void settle(Row& row, int32_t begin);
  [[nodiscard]] int64_t final_size(const Row& row) const;
  void check_size(const Row& row);
  [[nodiscard]] bool note_unended(int32_t event, size_t place);

  const model::Recording& recording_;
  StateHistory& history_;
  const RangeUndo& ranges_;
  UndoNotes notes_;
  EventAddresses addresses_{recording_.budget};
  OrderedSet is_open_{recording_.budget};
  Column<int32_t> row_at_{recording_.budget};  // per place: the open block
  // per place: when the next block here appears; event count = never
  Column<int32_t> later_{recording_.budget};
  Column<uint32_t> frees_{recording_.budget};  // per place: completed frees up to the event that is undone
  Column<Row> rows_{recording_.budget};
  Column<int32_t> active_{recording_.budget};  // blocks of the dump: rows of BlockTable
  // of the output, per event: where the next block that begins there goes
  Column<int32_t> start_{recording_.budget};
  Column<int32_t> number_{recording_.budget};  // of the output, per row
  int64_t requests_ = 0, completions_ = 0;
  bool writes_no_requests_ = false;  // a block of the trace was freed without one
};

}  // namespace gpustrata::replay
