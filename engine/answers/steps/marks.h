// Regions and markers above the timeline.
#pragma once

#include "engine/analysis/steps/marks.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

void describe(Members& m, const model::Recording& recording, const analysis::Marks& marks);

}  // namespace gpustrata::answers
