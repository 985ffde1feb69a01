// Segments that were never full, as JSON.
#pragma once

#include "engine/analysis/event_context.h"
#include "engine/analysis/never_full.h"
#include "engine/answers/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const analysis::NeverFull& found);

}  // namespace gpustrata::answers
