// Segments that were never full, as JSON.
#pragma once

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"text": a sentence,"all_segments","segments": those never full,"never_used_bytes": of all of them,
//  "worst":[{"segment":"0x...","segment_bytes","most_in_use_bytes","most_event": first event after which it was so much,
//            -1 = from the start,"never_used_bytes","from_event","until_event": given back|null,"expandable",
//            "who": asked for the segment,"stack","row": of the segment in the state}]}
void to_json(JsonWriter& json, const analysis::EventContext& context, const analysis::NeverFull& found);

}  // namespace gpustrata::answers
