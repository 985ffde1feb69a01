// The calls of a moment, for another recording to compare with, as JSON.
#pragma once

#include "engine/analysis/calls/carried_calls.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"texts":[text], of each frame "names","files": numbers of texts, "lines", of each node "frames","callers","weights",
//  "blocks", "without","withoutBlocks","rest","restBlocks"} (analysis/calls/carried_calls.h): what the argument CallFacts takes.
void to_json(JsonWriter& json, const analysis::CarriedCalls& calls);

}  // namespace gpustrata::answers
