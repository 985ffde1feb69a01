#include "engine/analysis/categories/category_timeline.h"

#include <algorithm>

#include "engine/replay/series/category_walk.h"

namespace gpustrata::analysis {

using model::RowRange;

CategoryTimeline category_timeline(const model::Recording& recording, const model::Part& part,
                                   size_t pieces) {
  CategoryTimeline timeline;
  if (part.series.count == 0) return timeline;
  const model::PointTable& points = recording.points;
  const RowRange rows = recording.series.points[part.series.first];
  for (int32_t row = part.series.first + 1; row < part.series.end(); ++row)
    timeline.categories.push_back(recording.strings.view(recording.series.name[row]));
  timeline.points = rows.count;
  if (rows.count == 0) return timeline;
  const auto microseconds = [&](int32_t row) {
    return part.has_clock ? part.clock.microseconds(points.time[row]) : std::nullopt;
  };
  timeline.first_us = microseconds(rows.first);
  timeline.last_us = microseconds(rows.end() - 1);

  // Wide, so that times of a broken file do no harm.
  const __int128 begin = points.time[rows.first];
  const __int128 span = static_cast<__int128>(points.time[rows.end() - 1]) - begin;
  const auto piece_of = [&](int32_t row) {
    if (span <= 0 || pieces == 0) return size_t{0};
    const auto piece = static_cast<size_t>((points.time[row] - begin) * static_cast<__int128>(pieces) / span);
    return std::min(piece, pieces - 1);
  };
  replay::CategoryWalk walk(recording, part);
  const auto moment = [&](int32_t row) {
    return CategoryMoment{row - rows.first, points.value[row], microseconds(row), walk.levels};
  };
  size_t last_piece = pieces;
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    walk.step(row);
    if (!timeline.peak || points.value[row] > timeline.peak->bytes) timeline.peak = moment(row);
    if (pieces == 0) continue;
    const size_t piece = piece_of(row);
    if (piece != last_piece) {
      timeline.course.push_back(moment(row));
      last_piece = piece;
    } else if (points.value[row] > timeline.course.back().bytes) {
      timeline.course.back() = moment(row);
    }
  }
  return timeline;
}

}  // namespace gpustrata::analysis
