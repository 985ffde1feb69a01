// The categories of all blocks of a device by one text of rules: what filters, colours, holders and what-if share.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/analysis/categories/categories.h"
#include "engine/analysis/categories/category_rules.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

struct KnownCategories {
  CategoryRules rules;
  Categories categories;
  bool own = true;  // by the engine's own rules, which filters mean

  // Null = no rule fits.
  [[nodiscard]] const CategoryRule* rule_of(size_t rank) const {
    const uint8_t number = categories.rule[rank];
    return number == Categories::kNoRule ? nullptr : &rules.rules[number];
  }
  // Index of CategoryRules::names; 0 = unknown.
  [[nodiscard]] int32_t of(size_t rank) const {
    const CategoryRule* const rule = rule_of(rank);
    return rule == nullptr ? 0 : rule->category;
  }
};

// `stacks` is BlockAttributes::stack of the same device; blank rules are the engine's own for the part. Error: limit_exceeded;
// invalid_format for rules that are none.
[[nodiscard]] Result<KnownCategories> find_known_categories(const model::Recording& recording,
                                                            const model::Part& part,
                                                            const replay::BlockLives& lives,
                                                            const Column<StackId>& stacks, const Steps& steps,
                                                            std::string_view rules = {});

}  // namespace gpustrata::analysis
