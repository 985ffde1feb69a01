// Orders of rows by small numbers and by time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/column.h"

namespace gpustrata::io::traces {

// `order` becomes what it lists, stably, by group_of(row), which is below `groups`; starts[g] is where group g begins,
// starts[groups] the end. O(order + groups). False: memory was refused.
template <typename GroupOf>
[[nodiscard]] bool group(Column<uint32_t>& order, size_t groups, Column<uint32_t>& starts, Budget& budget,
                         GroupOf group_of) {
  Column<uint32_t> next(budget), sorted(budget);
  starts.clear();
  if (!starts.resize(groups + 1, 0) || !sorted.resize(order.size(), 0)) return false;
  for (const uint32_t row : order) ++starts[static_cast<size_t>(group_of(row)) + 1];
  for (size_t i = 1; i <= groups; ++i) starts[i] += starts[i - 1];
  if (!next.append(starts.span())) return false;
  for (const uint32_t row : order) sorted[next[group_of(row)]++] = row;
  order = std::move(sorted);
  return true;
}

// 0 to rows - 1. False: memory was refused.
[[nodiscard]] inline bool all_rows(Column<uint32_t>& order, size_t rows) {
  if (!order.resize(rows, 0)) return false;
  for (size_t i = 0; i < rows; ++i) order[i] = static_cast<uint32_t>(i);
  return true;
}

// Most files are nearly sorted.
template <typename Less>
void sort_unless_sorted(uint32_t* first, uint32_t* end, Less less) {
  if (!std::is_sorted(first, end, less)) std::sort(first, end, less);
}

}  // namespace gpustrata::io::traces
