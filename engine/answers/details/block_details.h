// One block of the timeline, for the details panel.
#pragma once

#include "engine/analysis/details/block_details.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// Equal neighbours (3 or more visible ones, official rule) are one frame with `repeats`.
// The answer stays below about 4 MiB whatever the file holds: long texts are cut, with "…", and lists end
// after 1,000 entries or 1 MiB with an entry "… n more"; `*_left_out` says how many things that stands for.
void describe(Members& m, const model::Recording& recording, const analysis::BlockDetails& block);

}  // namespace gpustrata::answers
