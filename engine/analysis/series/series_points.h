// The series of a part by name, and their points.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/model/recording.h"

namespace gpustrata::analysis {

// Row of the part's first series of that name, -1 = none. O(series of the part).
[[nodiscard]] inline int32_t find_series(const model::Recording& recording, const model::Part& part,
                                         std::string_view name) {
  for (int32_t row = part.series.first; row < part.series.end(); ++row) {
    if (recording.strings.view(recording.series.name[row]) == name) return row;
  }
  return -1;
}

// Empty if there is no such series.
[[nodiscard]] inline model::RowRange points_of(const model::Recording& recording, int32_t series) {
  return series < 0 ? model::RowRange{} : recording.series.points[series];
}

}  // namespace gpustrata::analysis
