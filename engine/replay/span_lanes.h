// Ops of a profiler's trace as lanes above the timeline: for each thread rows in which no two of them overlap, and
// what columns of pixels show of a row.
//
// The row of an op is one below the lowest row that still goes on when it begins. What is nested lies below what it
// lies in; what begins inside of another one and ends after it does so, too, and nothing is drawn over anything.
// What has no duration, or a negative one, lasts a tick.
//
// Ops are spans of kind op or annotation (tables.h). Their places are on the axis of a device's timeline: microseconds
// since its first event, or the events that an op holds: from the first one not before its start to the first one not
// before its end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

inline constexpr int32_t kMostLaneRows = 128;    // of a thread; what lies deeper is counted
inline constexpr size_t kMostLaneThreads = 256;  // those with most records of the device

// Axis of a device's timeline for moments between its events and its microseconds.
class SpanAxis {
 public:
  // `events` in order of time, as those of traces are.
  SpanAxis(const model::Recording& recording, model::RowRange events, const model::Clock& clock);

  // Events before the moment, or microseconds since the first event, which may be below 0.
  [[nodiscard]] double position(Axis axis, int64_t time) const;
  // The first tick whose position is not below; INT64_MAX = there is none.
  [[nodiscard]] int64_t first_tick(Axis axis, double position) const;
  // The last tick whose position is not above; INT64_MIN = there is none.
  [[nodiscard]] int64_t last_tick(Axis axis, double position) const;
  // Events before the moment.
  [[nodiscard]] int32_t events_before(int64_t time) const;

 private:
  [[nodiscard]] int64_t time_of(size_t event) const {
    return times_[static_cast<size_t>(events_.first) + event];
  }

  const PackedColumn<int64_t>& times_;  // ascending in `events_`
  model::RowRange events_;
  double us_per_tick_;
  int64_t base_;
};

// Columns [from + k * step, from + (k + 1) * step), k < count.
struct LaneGrid {
  Axis axis = Axis::event;
  double from = 0;
  double step = 1;  // > 0
  int32_t count = 0;
};

// One or several ops next to each other in a row: those that begin in one column and do not reach beyond it.
struct LaneEntry {
  int32_t first = 0;           // place in SpanLanes::order()
  int32_t count = 1;           // so many from there on
  int64_t start = 0, end = 0;  // ticks
};

class SpanLanes {
 public:
  struct Thread {
    int32_t thread = 0;   // row of ThreadTable
    int64_t spans = 0;    // ops
    int64_t records = 0;  // of the device
    int64_t deeper = 0;   // ops below the last row, which are not there
    int32_t first_row = 0, rows = 0;
  };

  // Of the ops of a part, for one device of it. O(spans + events). Error: limit_exceeded.
  [[nodiscard]] static Result<SpanLanes> make(const model::Recording& recording, const model::Part& part,
                                              const model::DeviceTrace* trace);

  // Those with most records first, then with most ops.
  [[nodiscard]] std::span<const Thread> threads() const { return threads_; }
  [[nodiscard]] int32_t threads_left_out() const { return threads_left_out_; }
  // Rows of SpanTable, row of lanes after row of lanes, each by start.
  [[nodiscard]] const Column<int32_t>& order() const { return order_; }
  // Of a row of a thread, as places in order().
  [[nodiscard]] model::RowRange row(const Thread& thread, int32_t row) const {
    return rows_[thread.first_row + row];
  }
  // Where an op lies; none = its thread was left out, or it lies below the last row. O(rows x log n).
  struct Place {
    int32_t thread = 0;  // index in threads()
    int32_t row = 0;     // of it
  };
  [[nodiscard]] std::optional<Place> place_of(int32_t span) const;
  // What the columns show of a row, by start; at most two entries a column. O(entries x log n).
  void entries(const SpanAxis& axis, const LaneGrid& grid, model::RowRange row,
               std::vector<LaneEntry>& found) const;

  [[nodiscard]] int64_t start_of(int32_t place) const { return spans_->start[order_[place]]; }
  [[nodiscard]] int64_t end_of(int32_t place) const;

 private:
  explicit SpanLanes(const model::Recording& recording);
  [[nodiscard]] bool build(const model::Part& part, const model::DeviceTrace* trace);
  [[nodiscard]] bool add_thread(model::RowRange spans, int64_t records);

  const model::Recording* recording_;
  const model::SpanTable* spans_;
  std::vector<Thread> threads_;  // at most kMostLaneThreads
  int32_t threads_left_out_ = 0;
  Column<int32_t> order_;
  Column<model::RowRange> rows_;
};

// The first tick after a span.
[[nodiscard]] int64_t lane_end(const model::SpanTable& spans, int32_t span);

}  // namespace gpustrata::replay
