// Numbers over time on a grid of columns: curves, and categories stacked upon each other.
//
// The axis of a part runs from its first point: in microseconds, rounded down, where the part has a clock, else in steps.
// A level lasts until the next point. Column k covers [k * width, (k + 1) * width) and shows of each curve its
// highest and lowest value there, of stacked categories the moment at which their total is highest (the first of equal
// ones), so that a stack is always one that existed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/model/recording.h"

namespace gpustrata::replay {

// Of positions on the axis.
struct SeriesGrid {
  int64_t first = 0;  // number of the leftmost column, may be negative
  int64_t width = 1;  // >= 1
  int32_t count = 0;
};

// Where a column begins.
[[nodiscard]] int64_t column_edge(const SeriesGrid& grid, int64_t column);

class SeriesAxis {
 public:
  SeriesAxis(const model::Recording& recording, const model::Part& part);

  // Of a time in ticks; -1 = it is none. Never beyond 2^53.
  [[nodiscard]] int64_t position(int64_t time) const;
  [[nodiscard]] int64_t extent() const { return extent_; }  // one unit beyond the last point
  [[nodiscard]] int64_t origin() const { return origin_; }  // ticks, or the number of the first step

 private:
  int64_t origin_ = 0, extent_ = 0;
  int64_t tick_ns_ = 1000;  // of a thousandth of a unit, so that steps are whole
};

// A point that is shown: its row in PointTable, and where. A level that was there before its column began stands for it.
struct SeriesSpot {
  int32_t point = -1;
  int64_t value = 0;
};

// The highest and lowest of a series in each column, none in columns before its first value. O(points up to the last
// column's + columns).
struct SeriesColumn {
  std::optional<SeriesSpot> highest, lowest;
};
[[nodiscard]] std::vector<SeriesColumn> series_columns(const model::Recording& recording,
                                                       const SeriesAxis& axis, model::RowRange points,
                                                       const SeriesGrid& grid);

// What stacked categories show in each column: the point of the total, and the levels of the categories side by side
// (`levels[column * categories + category]`). O(points * categories).
struct SeriesStack {
  std::vector<SeriesSpot> totals;  // point -1: before the first
  std::vector<int64_t> levels;
  size_t categories = 0;
};
[[nodiscard]] SeriesStack series_stack(const model::Recording& recording, const model::Part& part,
                                       const SeriesAxis& axis, const SeriesGrid& grid);

}  // namespace gpustrata::replay
