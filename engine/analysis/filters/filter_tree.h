// What a filter means, put together from what each of its terms means.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/analysis/filters/filter_syntax.h"
#include "engine/base/column.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

// Per row 1 = it is meant. All of one filter have the same length.
using Mask = Column<uint8_t>;
using MaskOfTerm = std::function<Result<Mask>(const FilterNode& term)>;

// The tree is not empty. Error: as of_term().
[[nodiscard]] Result<Mask> mask_of(const FilterTree& tree, const MaskOfTerm& of_term);

// No row is meant. Error: limit_exceeded.
[[nodiscard]] Result<Mask> empty_mask(Budget& budget, int32_t rows);

// Those rows of which `holds(row)` is true. Error: limit_exceeded.
template <typename Holds>
[[nodiscard]] Result<Mask> mask_where(Budget& budget, int32_t rows, const Holds& holds) {
  auto mask = empty_mask(budget, rows);
  if (mask) {
    for (size_t row = 0; row < mask->size(); ++row) (*mask)[row] = holds(row) ? 1 : 0;
  }
  return mask;
}

}  // namespace gpustrata::analysis
