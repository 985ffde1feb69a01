// Levels of categories after each point of their total.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/recording.h"

namespace gpustrata::replay {

// Goes through the points of "total", the first series of a part whose series are categories, and knows the levels after
// each. Where a point has the name of a category for its label, only that category's series has one for it; else all
// series have.
class CategoryWalk {
 public:
  CategoryWalk(const model::Recording& recording, const model::Part& part)
      : rec_(recording), total_(part.series.first), used_(static_cast<size_t>(part.series.count) - 1, 0) {
    levels.resize(used_.size(), 0);
  }

  // Points are rows of PointTable, each in its turn.
  void step(int32_t point) {
    const StringId label = rec_.points.label[point];
    for (size_t i = 0; i < used_.size(); ++i) {
      const int32_t series = total_ + 1 + static_cast<int32_t>(i);
      if (!label.is_none() && rec_.series.name[series] != label) continue;
      const model::RowRange rows = rec_.series.points[series];
      if (used_[i] < rows.count) levels[i] = rec_.points.value[rows.first + used_[i]++];
    }
  }

  std::vector<int64_t> levels;

 private:
  const model::Recording& rec_;
  int32_t total_;
  std::vector<int32_t> used_;  // points of each category so far
};

}  // namespace gpustrata::replay
