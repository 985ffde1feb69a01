// Memory by line of source, as JSON.
#pragma once

#include <span>

#include "engine/analysis/live/source_lines.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::SourceLines& found);
// Of a list of files.
void describe(Members& m, const model::Recording& recording, const analysis::TopGroup& file);

}  // namespace gpustrata::answers
