// What a program wrote into its recording about itself, for the strip above the timeline.
#pragma once

#include <string>

#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace memstrata::analysis {

// {"regions":[{"name","from_event","to_event","from_us": n|null,"to_us": n|null,"depth","cut_start": bool,
//   "cut_end": bool,"allocated_bytes","allocations"}],
//  "markers":[{"kind": "oom"|"snapshot"|"annotate","event","time_us": n|null,"text"}],
//  "regions_left_out","markers_left_out"}
// Regions are pairs of START and END of external_annotations (of this device; joined to events by time: an
// event index is that of the first event at or after the time) and of user_defined events. Pairs of one name
// nest. A START without an END lasts to the end of the recording (`cut_end`), an END without a START began
// before it (`cut_start`). `depth` is 0 for the outermost; at most 2,000 regions, those of most events, and
// 2,000 markers, the first. `allocated_bytes` and `allocations` are of the alloc events in
// [from_event, to_event). One pass over the events. Error: limit_exceeded.
[[nodiscard]] Result<std::string> marks_json(const model::Recording& recording,
                                             const model::Snapshot& snapshot, const replay::DeviceRows& rows);

}  // namespace memstrata::analysis
