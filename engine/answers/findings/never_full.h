// Segments that were never full, as JSON.
#pragma once

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const analysis::NeverFull& found);

}  // namespace gpustrata::answers
