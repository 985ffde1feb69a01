// Numbers over time for a page, as JSON.
#pragma once

#include "engine/analysis/series/series_view.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::SeriesPart& part);
void describe(Members& m, const model::Recording& recording, const analysis::SeriesMoment& moment);
void describe(Members& m, const analysis::FunctionCall& call);
}  // namespace gpustrata::answers
