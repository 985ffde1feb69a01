// The requests of a recording, for another one's session to fit, as columns.
#pragma once

#include "engine/analysis/fit/carried_requests.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

// What the argument CarriedRequests takes, whole.
void describe(Members& m, const analysis::CarriedRequests& carried);

}  // namespace gpustrata::answers
