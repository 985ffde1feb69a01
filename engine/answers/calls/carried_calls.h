// The calls of a moment, for another recording to compare with, as JSON.
#pragma once

#include "engine/analysis/calls/carried_calls.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// What the argument CallFacts takes.
void describe(Members& m, const analysis::CarriedCalls& calls);

}  // namespace gpustrata::answers
