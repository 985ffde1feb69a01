// From columns of a grid to events: the horizontal axis of the timeline.
//
// Positions are event indices, or microseconds since the first event that has a time. Times that run
// backwards or are missing are replaced by the latest time so far; distances stop at kMaxExtent.
#pragma once

#include <cstdint>

#include "engine/base/packed_column.h"
#include "engine/model/recording.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

inline constexpr int64_t kMaxExtent = int64_t{1} << 53;  // exact in a double; 285 years of microseconds

// Events [begin, end) of one column. An empty range inside the recording shows the state before `begin`.
struct EventRange {
  int32_t begin = 0;
  int32_t end = 0;
  bool inside = false;

  [[nodiscard]] bool empty() const { return begin == end; }
};

class EventAxis {
 public:
  explicit EventAxis(Budget& budget) : clock_(budget) {}

  // False if the budget refuses. Refers to the recording. Extra memory only if times are not in order or not in
  // microseconds.
  [[nodiscard]] bool build(const model::Recording& recording, model::RowRange events,
                           const model::Clock& clock = {});

  [[nodiscard]] int32_t event_count() const { return event_count_; }
  [[nodiscard]] int64_t extent(Axis axis) const;
  [[nodiscard]] int64_t position(Axis axis, int32_t event) const;
  // Events in columns [first, first + count). O(log events).
  [[nodiscard]] EventRange range(Axis axis, int64_t first, int64_t count, int64_t width) const;

 private:
  friend class ColumnCursor;
  // First event at or after a position, not before `hint`. Gallops: cheap when it is near.
  [[nodiscard]] int32_t first_at(Axis axis, int64_t position, int32_t hint) const;

  // Ascending.
  [[nodiscard]] int64_t time(int32_t event) const {
    return recorded_ != nullptr ? (*recorded_)[first_ + event] : clock_[event];
  }

  int32_t event_count_ = 0;
  bool has_times_ = false;
  int64_t base_ = 0;                                 // time of position 0
  const PackedColumn<int64_t>* recorded_ = nullptr;  // the file's own times, from `first_` on
  int32_t first_ = 0;
  PackedColumn<int64_t> clock_;  // instead of them where they are not in order
};

// Column after column from the left. Neighbours share a border, so each costs one short search.
class ColumnCursor {
 public:
  ColumnCursor(const EventAxis& axis, const ColumnGrid& grid);
  [[nodiscard]] EventRange next();

 private:
  const EventAxis& axis_;
  ColumnGrid grid_;
  int64_t k_;
  int32_t border_ = -1;  // end of the column before, -1 = none yet
};

}  // namespace gpustrata::replay
