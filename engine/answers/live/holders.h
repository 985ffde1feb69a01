// Who holds the memory of a moment, as JSON; the rules of categories.
#pragma once

#include <string_view>

#include "engine/analysis/live/holders.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

struct HolderRows {
  size_t first = 0, count = 0;
};

// Rows from `first` on.
void describe(Members& m, const model::Recording& recording, const analysis::Holders& holders,
              const HolderRows& wanted);

// What decided for one block: the number of the rule, and the text of the rules.
struct DecidedCategory {
  const analysis::CategoryRules& rules;
  uint8_t number;
  std::string_view text;
};
void describe(Members& m, const DecidedCategory& decided);

void describe(Members& m, const analysis::CategoryRules& rules, std::string_view text);

}  // namespace gpustrata::answers
