// Who holds the memory of a moment: sums of the blocks in use, by line, function, file, module (keys.h) or category.
#pragma once

#include <cstdint>

#include "engine/analysis/categories/categories.h"
#include "engine/analysis/categories/known_categories.h"
#include "engine/analysis/stacks/keys.h"

namespace gpustrata::analysis {

struct Holders {
  By by = By::line;
  int32_t event = -1;  // the state after it
  CategorySums
      found;  // ordered; keys are those of `keys` or categories, all together are the level of the moment
  const Keys* keys = nullptr;                   // null by category
  const KnownCategories* categories = nullptr;  // by category only
};

}  // namespace gpustrata::analysis
