// What the memory of a device is for: a category per block, by rules that are written down (category_rules.h).
//
// Guesses, but those that a label of the program or the profiler confirms: each block knows its rule, and that how sure it
// is. O(events + blocks log steps + nodes of the stack table).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/category_rules.h"
#include "engine/analysis/steps.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

struct CategoryShare {
  int32_t category = 0;  // index of CategoryRules::names
  int64_t bytes = 0;     // requested
  int64_t blocks = 0;
  double sure = 0;  // mean of its rules, by bytes
};

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

// Of the blocks alive after the event: every category that has bytes, most first. All together are the level.
// O(blocks).
[[nodiscard]] std::vector<CategoryShare> category_shares(const replay::BlockLives& lifetimes,
                                                         const Categories& categories,
                                                         const CategoryRules& rules, int32_t event);

}  // namespace gpustrata::analysis
