// The stack by group: an area for each, the first one at the bottom, as high as its bands together.
//
// Columns and rows mean what they mean for bands (timeline.h): a column shows one state, a row the area that
// covers its centre, so every edge is within half a pixel of exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/replay/group_levels.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

// Pixels, column after column, row 0 (bottom) first, with the value of the group there; kNothing above the stack
// and outside the recording. O(columns * (rows + groups)), and what the states of the columns cost.
void draw_groups(const Timeline& timeline, const GroupLevels& levels, const ColumnGrid& columns,
                 const RowGrid& rows, std::span<const uint32_t> value_of_group, std::span<uint32_t> pixels);

// Lower and upper edge of groups [first, end), one value per column; NaN where they have no bytes.
struct GroupEdges {
  std::vector<double> lower, upper;
};
[[nodiscard]] GroupEdges group_edges(const Timeline& timeline, const GroupLevels& levels, size_t first,
                                     size_t end, const ColumnGrid& columns);

// The group at that height, levels.size() = none.
[[nodiscard]] size_t group_at(std::span<const int64_t> levels, double bytes);

}  // namespace gpustrata::replay
