// Files by memory, as JSON; the lines of one describe themselves.
#pragma once

#include <span>

#include "engine/analysis/live/source_lines.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// Of a list of files.
void describe(Members& m, const model::Recording& recording, const analysis::TopGroup& file);

}  // namespace gpustrata::answers
