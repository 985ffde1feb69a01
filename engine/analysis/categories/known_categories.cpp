#include "engine/analysis/categories/known_categories.h"

#include <utility>

namespace gpustrata::analysis {

Result<KnownCategories> find_known_categories(const model::Recording& recording, const model::Part& part,
                                              const replay::BlockLives& lives, const Column<StackId>& stacks,
                                              const Steps& steps, std::string_view rules) {
  const bool own = rules.find_first_not_of(" \t\r\n") == std::string_view::npos;
  auto parsed = parse_category_rules(own ? category_rules_of(part) : rules);
  if (!parsed) return tl::unexpected(parsed.error());
  auto found = find_categories(recording, part, lives, stacks, steps, *parsed);
  if (!found) return tl::unexpected(found.error());
  return KnownCategories{std::move(*parsed), std::move(*found), own};
}

}  // namespace gpustrata::analysis
