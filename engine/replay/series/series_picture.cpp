#include "engine/replay/series/series_picture.h"

#include <algorithm>
#include <limits>

#include "engine/replay/series/category_walk.h"

namespace gpustrata::replay {

using model::RowRange;

namespace {

constexpr int64_t kFarthest = int64_t{1} << 53;  // numbers up to here are exact in a page

// Goes over the columns of a grid with the points in them. `see(column, point)` is called for the level that a column
// begins with, if one reaches into it, and for each point in it that has a value.
template <typename Pass, typename See>
void walk_columns(const model::Recording& recording, const SeriesAxis& axis, RowRange points,
                  const SeriesGrid& grid, Pass pass, See see) {
  int32_t next = points.first;
  int32_t current = -1;
  const auto position = [&](int32_t row) { return axis.position(recording.points.time[row]); };
  const auto take = [&](int32_t row) {
    pass(row);
    if (recording.points.value[row] != model::kNoValue) current = row;
  };
  for (const int64_t begin = column_edge(grid, 0); next < points.end() && position(next) < begin; ++next)
    take(next);
  for (int32_t column = 0; column < grid.count; ++column) {
    const bool starts_anew = next < points.end() && position(next) == column_edge(grid, column);
    if (current >= 0 && !starts_anew) see(column, current);
    for (const int64_t end = column_edge(grid, column + 1); next < points.end() && position(next) < end;
         ++next) {
      take(next);
      if (current == next) see(column, next);
    }
  }
}

}  // namespace

// For far columns it lies beyond 64 bits.
int64_t column_edge(const SeriesGrid& grid, int64_t column) {
  const __int128 at = (static_cast<__int128>(grid.first) + column) * grid.width;
  constexpr auto kMost = static_cast<__int128>(std::numeric_limits<int64_t>::max());
  constexpr auto kLeast = static_cast<__int128>(std::numeric_limits<int64_t>::min());
  return static_cast<int64_t>(std::clamp(at, kLeast, kMost));
}

SeriesAxis::SeriesAxis(const model::Recording& recording, const model::Part& part)
    : tick_ns_(part.has_clock ? part.clock.tick_ns : 1000) {
  const model::PointTable& points = recording.points;
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = model::kNoTime;
  for (int32_t series = part.series.first; series < part.series.end(); ++series) {
    const RowRange rows = recording.series.points[series];
    for (int32_t row = rows.first; row < rows.end(); ++row) {
      if (points.time[row] == model::kNoTime) continue;
      first = std::min(first, points.time[row]);
      break;
    }
    if (rows.count > 0) last = std::max(last, points.time[rows.end() - 1]);
  }
  if (last == model::kNoTime) return;
  origin_ = first;
  extent_ = position(last) + 1;
}

int64_t SeriesAxis::position(int64_t time) const {
  if (time == model::kNoTime) return -1;
  const __int128 thousandths = (static_cast<__int128>(time) - origin_) * tick_ns_;
  return static_cast<int64_t>(std::clamp<__int128>(thousandths / 1000, -1, kFarthest));
}

std::vector<SeriesColumn> series_columns(const model::Recording& recording, const SeriesAxis& axis,
                                         RowRange points, const SeriesGrid& grid) {
  std::vector<SeriesColumn> columns(static_cast<size_t>(grid.count));
  walk_columns(
      recording, axis, points, grid, [](int32_t) {},
      [&](int32_t column, int32_t row) {
        SeriesColumn& shown = columns[static_cast<size_t>(column)];
        const int64_t value = recording.points.value[row];
        if (!shown.highest || value > shown.highest->value) shown.highest = {row, value};
        if (!shown.lowest || value < shown.lowest->value) shown.lowest = {row, value};
      });
  // Nothing follows the last point.
  const int64_t end = axis.extent();
  for (int32_t column = grid.count; column-- > 0 && column_edge(grid, column) >= end;)
    columns[static_cast<size_t>(column)] = {};
  return columns;
}

SeriesStack series_stack(const model::Recording& recording, const model::Part& part, const SeriesAxis& axis,
                         const SeriesGrid& grid) {
  SeriesStack stack;
  stack.totals.resize(static_cast<size_t>(grid.count));
  if (part.series.count == 0) return stack;
  stack.categories = static_cast<size_t>(part.series.count) - 1;
  stack.levels.resize(stack.totals.size() * stack.categories, 0);
  CategoryWalk walk(recording, part);
  walk_columns(
      recording, axis, recording.series.points[part.series.first], grid, [&](int32_t row) { walk.step(row); },
      [&](int32_t column, int32_t row) {
        SeriesSpot& shown = stack.totals[static_cast<size_t>(column)];
        const int64_t value = recording.points.value[row];
        if (column_edge(grid, column) >= axis.extent() || (shown.point >= 0 && value <= shown.value)) return;
        shown = {row, value};
        std::copy(
            walk.levels.begin(), walk.levels.end(),
            stack.levels.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(column) * stack.categories));
      });
  return stack;
}

}  // namespace gpustrata::replay
