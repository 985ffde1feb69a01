// What the memory of a device is for: a category per block, by rules that are written down (category_rules.h).
//
// Guesses, but those that a label of the program or the profiler confirms: each block knows its rule, and that how sure it
// is. O(events + blocks log steps + nodes of the stack table).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/analysis/categories/category_rules.h"
#include "engine/analysis/live/weigh.h"
#include "engine/analysis/steps/steps.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

struct Categories {
  explicit Categories(Budget& budget) : rule(budget) {}

  Column<uint8_t> rule;  // per rank: index of CategoryRules::rules, kNoRule = unknown
  static constexpr uint8_t kNoRule = 255;
  bool labelled = false;  // a label decided for at least one block
};

// `stacks` is BlockAttributes::stack of the same timeline. Error: limit_exceeded.
[[nodiscard]] Result<Categories> find_categories(const model::Recording& recording, const model::Part& part,
                                                 const replay::BlockLives& lifetimes,
                                                 const Column<StackId>& stacks, const Steps& steps,
                                                 const CategoryRules& rules);

struct CategorySums {
  explicit CategorySums(Budget& budget) : sums(budget) {}

  BlockSums sums;            // by index of CategoryRules::names; ordered
  std::vector<double> sure;  // by category: mean of its rules, by bytes
};
// `lit`: per rank 0 or 1, empty = none. O(ranks). Error: limit_exceeded.
[[nodiscard]] Result<CategorySums> sums_by_category(const replay::Bands& bands,
                                                    std::span<const int32_t> ranks,
                                                    const Categories& categories, const CategoryRules& rules,
                                                    std::span<const uint8_t> lit, Budget& budget);

}  // namespace gpustrata::analysis
