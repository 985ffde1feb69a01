// Events of a device as JSON: rows of a list, and all that is known of one.
#pragma once

#include <cstdint>
#include <string>

#include "engine/analysis/event_list.h"
#include "engine/analysis/stream_numbers.h"
#include "engine/base/json_writer.h"
#include "engine/model/recording.h"
#include "engine/replay/lifetimes.h"
#include "engine/replay/state_history.h"

namespace memstrata::analysis {

struct EventContext {
  const model::Recording& recording;
  const model::Snapshot& snapshot;
  const replay::StateHistory& history;
  const replay::Lifetimes& lifetimes;  // the timeline of the same device
  const StreamNumbers& streams;
};

// Rows [first, first + count) of the list, at most kMostInList:
// [{"row","event","action","name": text|"","size","stream": number,"time_us": n|null,"text"}]. `text` is the
// event line of the official viewer; a completion right after its request has "follows_request": true.
[[nodiscard]] std::string event_rows_json(const EventContext& context, const EventList& list, int32_t first,
                                          int32_t count);

// {"event","action","name","address","size","stream","stream_handle","pool": [a,b]|null,"time_us": n|null,
//  "text","device_free": n|null,"compile_context": text|null,"user_metadata": text|null,
//  "annotations": [text] of the block,"extras": {key: text},"frames": as in block_details.h,
//  "forward_frames": text|null,"no_stack_reasons": [sentence],
//  "block": row of the state history|-1,"rank": of the timeline|-1,"segment": row of the state history|-1,
//  "alloc_event","free_requested_event","free_completed_event": n|-1,
//  "annotations_left_out","extras_left_out","frames_left_out"}
[[nodiscard]] std::string event_details_json(const EventContext& context, int32_t event);

// "alloc         b'7f.._0           2.0 KiB (2,048 bytes)\n(stream 0)"
[[nodiscard]] std::string event_text(const EventContext& context, int32_t event);

// Appends what `annotate` events say of a block, as an array. Returns how many texts were left out.
int64_t write_annotations(JsonWriter& json, const EventContext& context, int32_t block);

}  // namespace memstrata::analysis
