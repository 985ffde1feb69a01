// Events of a device: rows of the list, and one for the details panel.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/analysis/details/event_details.h"
#include "engine/analysis/device/event_context.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// [{"row","event","action","name": text|"","size","stream": number,"time_us": n|null,"text"}]. `text` is the
// event line of the official viewer; a completion right after its request has "follows_request": true.
void to_json(JsonWriter& json, const analysis::EventContext& context,
             std::span<const analysis::EventRow> rows);
// The same without the brackets, for lists that are written in parts.
void rows_to_json(JsonWriter& json, const analysis::EventContext& context,
                  std::span<const analysis::EventRow> rows);

// {"event","action","name","address","size","stream","stream_handle","pool": [a,b]|null,"time_us": n|null,
//  "text","device_free": n|null,"compile_context": text|null,"user_metadata": text|null,
//  "annotations": [text] of the block,"extras": {key: text},"frames": as in parts.h,"who": text|null,
//  "forward_frames": text|null,"no_stack_reasons": [sentence],
//  "block": row of the state history|-1,"rank": of the timeline|-1,"segment": row of the state history|-1,
//  "alloc_event","free_requested_event","free_completed_event": n|-1,
//  "annotations_left_out","extras_left_out","frames_left_out"} or null
void to_json(JsonWriter& json, const analysis::EventContext& context,
             const std::optional<analysis::EventDetails>& event);

// "alloc         b'7f.._0           2.0 KiB (2,048 bytes)\n(stream 0)"
[[nodiscard]] std::string event_text(const analysis::EventContext& context, int32_t event);

}  // namespace gpustrata::answers
