// What a view of the allocator's states tells, as JSON: counts, places, the rows of the address map.
#pragma once

#include <optional>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/details/state_info.h"
#include "engine/analysis/device/event_context.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"events","blocks","ranges","peak_event","oom_events","snapshot_events","annotate_events",
//  "diagnostics"}
void to_json(JsonWriter& json, const analysis::StateInfo& info);

// {"rects":{} for columns,"totals": as in memory_after.h}
void layout_to_json(JsonWriter& json, const analysis::MemoryTotals& totals);

// {"x","y","width","height","block_x","block_width"} or null
void to_json(JsonWriter& json, const std::optional<analysis::StatePlace>& place);

// {"count","rows":[{"row","name","address","size","stream","stream_handle","pool","expandable","pieces"}]}
void to_json(JsonWriter& json, const analysis::EventContext& context, const analysis::RegionList& regions);

}  // namespace gpustrata::answers
