// What came and is never freed, by line, as JSON.
#pragma once

#include <cstdint>

#include "engine/analysis/live/top.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

struct NeverFreed {
  const analysis::Top& found;
  int32_t from;  // the first event; -1 = also what was there before
};
void describe(Members& m, const model::Recording& recording, const NeverFreed& never);

}  // namespace gpustrata::answers
