#include "engine/answers/series/series_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/answers/text/fitted.h"
#include "engine/answers/text/label_rows.h"
#include "engine/answers/text/printable.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

using analysis::CategoryMoment;
using analysis::CategoryTimeline;

constexpr size_t kMostColumns = 5;  // categories in the table over time
constexpr int kColumn = 10;

[[nodiscard]] std::string since_first(const CategoryTimeline& timeline, const CategoryMoment& moment) {
  if (!moment.time_us || !timeline.first_us) return "-";
  return duration_text(std::max(saturated_difference(*moment.time_us, *timeline.first_us), int64_t{0}));
}

void append_peak(TextOut& out, const CategoryTimeline& timeline, size_t columns) {
  const CategoryMoment& peak = *timeline.peak;
  LabelRows rows;
  const std::string after =
      peak.time_us ? since_first(timeline, peak) + " after the first row" : std::string();
  rows.size("peak", peak.bytes, after);
  for (size_t i = 0; i < timeline.categories.size(); ++i) {
    const int64_t level = peak.levels[i];
    if (level == 0) continue;
    const double share =
        peak.bytes > 0 ? 100.0 * static_cast<double>(level) / static_cast<double>(peak.bytes) : 0;
    rows.size("  " + shortened(timeline.categories[i], 30), level, fmt::format("{:.1f}%", share));
  }
  rows.write(out, columns);
}

// The largest at the peak, in the order of the file.
[[nodiscard]] std::vector<size_t> columns_of_table(const CategoryTimeline& timeline) {
  std::vector<size_t> shown(timeline.categories.size());
  std::iota(shown.begin(), shown.end(), size_t{0});
  std::stable_sort(shown.begin(), shown.end(),
                   [&](size_t a, size_t b) { return timeline.peak->levels[a] > timeline.peak->levels[b]; });
  shown.resize(std::min(shown.size(), kMostColumns));
  std::sort(shown.begin(), shown.end());
  return shown;
}

void append_course(TextOut& out, const CategoryTimeline& timeline) {
  const std::vector<size_t> shown = columns_of_table(timeline);
  out.print("\n    {:>{}} {:>{}}", "time", kColumn, "total", kColumn);
  for (const size_t i : shown)
    out.print(" {:>{}}", shortened(timeline.categories[i].substr(0, size_t{kColumn}), 30), kColumn);
  out.add("\n");
  for (const CategoryMoment& moment : timeline.course) {
    out.print("    {:>{}} {:>{}}", since_first(timeline, moment), kColumn, size_text(moment.bytes), kColumn);
    for (const size_t i : shown) out.print(" {:>{}}", size_text(moment.levels[i]), kColumn);
    out.add("\n");
  }
}

}  // namespace

void to_text(TextOut& out, const analysis::SeriesSummary& series, size_t columns) {
  if (!series.name.empty()) out.print("\n  {}\n", shortened(series.name, 200));
  if (series.timeline) {
    out.print("\n  Memory by category, {}\n", counted(series.timeline->points, "row"));
    if (!series.timeline->peak) return;
    append_peak(out, *series.timeline, columns);
    append_course(out, *series.timeline);
    return;
  }
  out.print("\n  Numbers over {}\n", series.are == model::SeriesAre::operators
                                         ? "operator calls; gpustrata tracker has them by operator and module"
                                         : "time; gpustrata telemetry has the findings");
  LabelRows rows;
  for (const analysis::SeriesRow& row : series.rows) {
    std::string label = shortened(row.name, 40);
    if (row.device != model::kUnknownDevice) label += fmt::format(", device {}", row.device);
    const std::string points = counted(row.points, "point");
    if (row.highest && row.unit == model::Unit::nanoseconds) {
      rows.text(label, fmt::format("{} at most; {}", duration_text(*row.highest / 1000), points));
    } else if (row.highest) {
      rows.size(label, *row.highest, "at most; " + points);
    } else {
      rows.text(label, points);
    }
  }
  rows.write(out, columns);
  if (series.more > 0) out.print("    ({} more)\n", count_text(series.more));
}

}  // namespace gpustrata::answers
