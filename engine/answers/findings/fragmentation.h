// What holds free memory back after an event, as JSON.
#pragma once

#include <optional>
#include <span>

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/fragmentation.h"
#include "engine/analysis/findings/free_places.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"event","reserved_bytes","allocated_bytes","pending_bytes","cached_bytes","largest_free_bytes","held_back_bytes",
//  "share","pinned_segments",
//  "pins":[{"segment":"0x...","segment_bytes","free_bytes","held_back_bytes","blocks","pinned_bytes","expandable",
//           "who": of the largest block,"stack","since_event": of the oldest,"row": of the segment in the state,
//           "rank": of the largest block in the timeline, -1 = none}],
//  "never_full": see never_full.h, if it is there}
void to_json(JsonWriter& json, const analysis::EventContext& context,
             const analysis::Fragmentation& fragmentation,
             const std::optional<analysis::NeverFull>& never_full);

// The same with "text": a sentence, and "places":[{those of place_to_json() in out_of_memory.h}]
void to_json(JsonWriter& json, const analysis::EventContext& context,
             const analysis::Fragmentation& fragmentation, std::span<const analysis::FreePlace> places);

}  // namespace gpustrata::answers
