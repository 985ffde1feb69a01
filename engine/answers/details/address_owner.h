// Whose an address is: the answer of `gpustrata owner`, and of the page's search for 0x...
#pragma once

#include "engine/analysis/details/address_owner.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"

namespace gpustrata::answers {

// {"address","device","event": the state after it|-1,"time_us": n|null,"known": the device has it at some moment,
//  "holder": life|null,"segment": as stateSegment|null,"free": {"address","size"}|null,
//  "before": [life], "before_left_out": n,"after": [life],"after_left_out": n,
//  "below": near|null,"above": near|null,"segment_before": range|null,"segment_after": range|null,"lines": [sentence]}
// life:  {"block": row,"rank","name","address","size","requested_size","offset","state": after the event|null,"begin","end": n|-1,
//         "alloc_event","free_requested_event","free_completed_event": n|-1,"stream","stream_handle": text|null,"pool",
//         "allocated_by": text|null,"allocated_frames","freed_by": text|null,"freed_frames"}
// near:  {"segment": bool,"name","address","size","distance": bytes to its nearest byte}
// range: {"name","address","size","begin","end": n|-1,"end_action": text|null,"pool"}
void to_json(JsonWriter& json, const analysis::EventContext& context, const analysis::AddressOwner& owner);

// The sentences, and the stacks of the block that holds the address, or else of the last that did.
void to_text(TextOut& out, const analysis::EventContext& context, const analysis::AddressOwner& owner,
             size_t columns);

}  // namespace gpustrata::answers
