// What numbers over time a part has, for `gpustrata summary`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/categories/category_timeline.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct SeriesRow {
  std::string_view name;
  int32_t device = model::kUnknownDevice;
  model::Unit unit = model::Unit::bytes;
  int64_t points = 0;
  std::optional<int64_t> highest;  // of the values, in its unit; none if there is none
};

struct SeriesSummary {
  std::string_view name;  // of the part; empty if the file is the part
  model::SeriesAre are = model::SeriesAre::counters;
  std::vector<SeriesRow> rows;               // at most kMostSeries
  int64_t more = 0;                          // further ones
  std::optional<CategoryTimeline> timeline;  // where the series are categories
};

inline constexpr int32_t kMostSeries = 256;

// O(points).
[[nodiscard]] SeriesSummary summarize_series(const model::Recording& recording, const model::Part& part);

}  // namespace gpustrata::analysis
