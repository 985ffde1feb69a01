// What could stand at the cursor of a filter.
#pragma once

#include "engine/analysis/filters/filter_completion.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::Completions& found);

}  // namespace gpustrata::answers
