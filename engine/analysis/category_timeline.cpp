#include "engine/analysis/category_timeline.h"

#include <algorithm>

namespace memstrata::analysis {

using model::RowRange;

namespace {

// Goes through the points of "total" and knows the levels after each. Where a point has the name of a category for
// its label, only that category's series has one for it; else all series have.
class Walk {
 public:
  Walk(const model::Recording& recording, const model::Part& part)
      : rec_(recording), total_(part.series.first), used_(static_cast<size_t>(part.series.count) - 1, 0) {
    levels.resize(used_.size(), 0);
  }

  void step(int32_t point) {
    const StringId label = rec_.points.label[point];
    for (size_t i = 0; i < used_.size(); ++i) {
      const int32_t series = total_ + 1 + static_cast<int32_t>(i);
      if (!label.is_none() && rec_.series.name[series] != label) continue;
      const RowRange rows = rec_.series.points[series];
      if (used_[i] < rows.count) levels[i] = rec_.points.value[rows.first + used_[i]++];
    }
  }

  std::vector<int64_t> levels;

 private:
  const model::Recording& rec_;
  int32_t total_;
  std::vector<int32_t> used_;  // points of each category so far
};

}  // namespace

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
  Walk walk(recording, part);
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

}  // namespace memstrata::analysis
