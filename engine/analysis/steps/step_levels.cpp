#include "engine/analysis/steps/step_levels.h"

#include <algorithm>

namespace gpustrata::analysis {

std::vector<ColumnEvents> events_of_columns(const replay::Timeline& timeline,
                                            const replay::ColumnGrid& columns) {
  std::vector<ColumnEvents> found;
  size_t column = 0;
  for (const replay::EventRange& range : timeline.ranges(columns)) {
    if (range.inside) found.push_back({column, range});
    ++column;
  }
  return found;
}

std::vector<ColumnEvents> events_of_columns(std::span<const Stretch> stretches,
                                            const replay::SeriesGrid& columns) {
  std::vector<ColumnEvents> found;
  const int64_t extent = static_cast<int64_t>(stretches.size()) * kStretchUnits;
  for (int32_t column = 0; column < columns.count; ++column) {
    const int64_t last = std::min(replay::column_edge(columns, int64_t{column} + 1), extent);
    int64_t from = std::max<int64_t>(replay::column_edge(columns, column), 0);
    while (from < last) {
      const int64_t number = from / kStretchUnits, start = number * kStretchUnits;
      const int64_t to = std::min(last, start + kStretchUnits);
      const Stretch& stretch = stretches[static_cast<size_t>(number)];
      const int64_t length = int64_t{stretch.end} - stretch.begin;
      const auto event_at = [&](int64_t place) {
        return static_cast<int32_t>(stretch.begin + length * (place - start) / kStretchUnits);
      };
      found.push_back({static_cast<size_t>(column), {event_at(from), event_at(to), true}});
      from = to;
    }
  }
  return found;
}

replay::LevelValues level_values(const replay::Timeline& timeline, std::span<const ColumnEvents> events,
                                 size_t columns, LevelOf of) {
  const std::vector<double> nothing(columns, std::numeric_limits<double>::quiet_NaN());
  replay::LevelValues values{nothing, nothing};
  for (const ColumnEvents& part : events) {
    const replay::LevelsIn levels = timeline.levels_in(part.events);
    const bool reserved = of == LevelOf::reserved;
    double &highest = values.highest[part.column], &lowest = values.lowest[part.column];
    // A comparison with NaN is false.
    const auto most = static_cast<double>(reserved ? levels.reserved : levels.highest);
    if (!(highest >= most)) highest = most;
    if (const auto least = static_cast<double>(levels.lowest); !reserved && !(lowest <= least))
      lowest = least;
  }
  return values;
}

std::vector<Stretch> stretches_of(const Steps& steps) {
  std::vector<Stretch> stretches;
  stretches.reserve(static_cast<size_t>(steps.count()));
  for (int32_t step = 0; step < steps.count(); ++step)
    stretches.push_back({steps.begin[step], step + 1 < steps.count() ? steps.begin[step + 1] : steps.end});
  return stretches;
}

std::vector<Stretch> stretches_of(const model::Recording& recording, std::span<const Region> regions,
                                  std::string_view name) {
  std::vector<Stretch> stretches;
  for (const Region& region : regions) {
    if (region.from_event >= region.to_event || recording.strings.view(region.name) != name) continue;
    stretches.push_back({region.from_event, region.to_event});
  }
  std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  size_t kept = 0;
  for (const Stretch& one : stretches)
    if (kept == 0 || one.begin >= stretches[kept - 1].end) stretches[kept++] = one;
  stretches.resize(kept);
  return stretches;
}

}  // namespace gpustrata::analysis
