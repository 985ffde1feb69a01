#include "engine/analysis/series/series_summary.h"

#include <algorithm>

namespace gpustrata::analysis {

namespace {
constexpr size_t kCoursePieces = 12;
}

SeriesSummary summarize_series(const model::Recording& recording, const model::Part& part) {
  SeriesSummary summary;
  summary.name = part.name;
  summary.are = part.series_are;
  summary.more = std::max(part.series.count - kMostSeries, 0);
  for (int32_t row = part.series.first; row < part.series.end() - summary.more; ++row) {
    const model::RowRange points = recording.series.points[row];
    SeriesRow& made = summary.rows.emplace_back();
    made.name = recording.strings.view(recording.series.name[row]);
    made.device = recording.series.device[row];
    made.unit = recording.series.unit[row];
    made.points = points.count;
    for (int32_t point = points.first; point < points.end(); ++point) {
      const int64_t value = recording.points.value[point];
      if (value != model::kNoValue && (!made.highest || value > *made.highest)) made.highest = value;
    }
  }
  if (part.series_are == model::SeriesAre::categories)
    summary.timeline = category_timeline(recording, part, kCoursePieces);
  return summary;
}

}  // namespace gpustrata::analysis
