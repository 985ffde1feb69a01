// Memory by category over time: its peak and what the peak is made of, and the course in few rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

// The state after a point of the series "total".
struct CategoryMoment {
  int64_t point = 0;  // index in that series
  int64_t bytes = 0;
  std::optional<int64_t> time_us;  // since 1970
  std::vector<int64_t> levels;     // of the categories, in their order
};

struct CategoryTimeline {
  int64_t points = 0;  // rows of the file
  std::optional<int64_t> first_us, last_us;
  std::vector<std::string_view> categories;  // in the order of the file
  std::optional<CategoryMoment> peak;        // the first of equal ones; none without a point
  std::vector<CategoryMoment> course;        // the highest moment of each piece of the time, in order
};

// `part` is one whose series are categories. `pieces` equal pieces of the time between first and last are looked at
// for the course. O(points).
[[nodiscard]] CategoryTimeline category_timeline(const model::Recording& recording, const model::Part& part,
                                                 size_t pieces);

}  // namespace gpustrata::analysis
