// One block of the timeline, for the details panel.
#pragma once

#include "engine/analysis/details/block_details.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// {"rank", "name": "b'7f..._0", "address": "0x7f...", "version", "kind": "traced" | "freed_only" |
// "final_only",
//  "requested_size", "block_size": n|null (known only for blocks of the final state),
//  "state": "active_allocated"|"active_pending_free"|null (at the end of the recording),
//  "stream": n (renumbered as the official viewer does: 0, 1, 2 by first appearance in the file),
//  "stream_handle": "text", "pool": [a, b]|null, "pool_from": "event"|"segment"|null, "born_event": n|-1,
//  "free_requested_event": n|null, "freed_event": n|null, "born_time_us": n|null, "freed_time_us": n|null,
//  "lifetime_events": n, "lifetime_us": n|null, "total_after": bytes|null (level after the alloc),
//  "compile_context": text|null, "user_metadata": text|null, "annotations": [text], "extras": {key: text},
//  "frames": as frames_to_json() in parts.h, "stack_of": "alloc"|"free"|"block"|null (whose stack this is),
//  "who": text|null (who.h), "forward_frames": text|null, "no_stack_reasons": [sentence],
//  "annotations_left_out": n, "extras_left_out": n, "frames_left_out": n}
// Equal neighbours (3 or more visible ones, official rule) are one frame with `repeats`.
// The answer stays below about 4 MiB whatever the file holds: long texts are cut, with "…", and lists end
// after 1,000 entries or 1 MiB with an entry "… n more"; `*_left_out` says how many things that stands for.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::BlockDetails& block);

}  // namespace gpustrata::answers
