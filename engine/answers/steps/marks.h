// Regions and markers above the timeline.
#pragma once

#include "engine/analysis/steps/marks.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// {"regions":[{"name","from_event","to_event","from_us": n|null,"to_us": n|null,"depth","cut_start": bool,
//   "cut_end": bool,"allocated_bytes","allocations"}],"regions_left_out",
//  "markers":[{"kind": "oom"|"snapshot"|"annotate","event","time_us": n|null,"text"}],"markers_left_out"}
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::Marks& marks);

}  // namespace gpustrata::answers
