// The memory after an event: totals, one block, one segment, what lies under a pointer, and all of it.
#pragma once

#include <optional>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/state_layout.h"

namespace gpustrata::answers {

// {"event","time_us": n|null,"reserved","allocated","active","requested","rounding","free": of blocks in
//  segments,"largest_free","free_blocks","live_blocks","pending_blocks",
//  "segments","blocks_without_segment","fragmentation": 0..1|null,"text"}. `text` says what fragmentation
// means.
void to_json(JsonWriter& json, const analysis::MemoryTotals& totals);

// {"segment": row,"block": row|-1,"part": "segment"|"block"|"rounding"|"pending"|"gap","text"} or null:
// nothing is there. `text` has the lines of the official viewer: what it is, sizes, stream, private pool.
void to_json(JsonWriter& json, const analysis::EventContext& context, const replay::MemoryAt& memory,
             const replay::StateLayout::Hit& hit);

// {"row","name","address","size","requested_size","rounding","state": after the event|null (does not exist
// then),
//  "begin","end": n|-1 (event after which it is gone; -1 = never),"alloc_event","free_requested_event",
//  "free_completed_event","rank","segment": row after the event|-1,"stream","stream_handle","pool",
//  "compile_context","user_metadata","annotations":[text],"frames","stack_of": "alloc"|"block"|"free"|null,
//  "who": text|null,"in_dump": bool,"annotations_left_out","frames_left_out"}
void to_json(JsonWriter& json, const analysis::EventContext& context, const analysis::StateBlock& block);

// {"row","name","address","size","free","rounding","allocated","active","requested","blocks","free_blocks",
//  "expandable": bool,"stream","stream_handle","pool","begin","end","begin_action": text|null,
//  "end_action": text|null,"frames","who": text|null,"in_dump": bool,"frames_left_out"}, or null; and its members.
void to_json(JsonWriter& json, const analysis::EventContext& context,
             const std::optional<analysis::StateSegment>& segment);
void members_to_json(JsonWriter& json, const analysis::EventContext& context,
                     const analysis::StateSegment& segment);

// The answer of `gpustrata state --json`:
// {"device","event","reserved_bytes","allocated_bytes","active_bytes",
//  "segments":[{"address","total_size","stream","pool","blocks":[{"address","size","requested_size","state"}]}]}.
// Addresses are texts "0x...", segments and blocks ascend by address; stream is the raw handle, pool [a, b],
// both null if the file does not say. Only if there are any: "blocks_without_segment":[{block},...].
void to_json(JsonWriter& json, const model::Recording& recording, const replay::StateHistory& history,
             const replay::MemoryAt& memory);

// The same as lines for a terminal, "Device 0 after event 3 ...": totals, then segments with their blocks.
// Texts of the file do not occur in it.
void to_text(TextOut& out, const model::Recording& recording, const replay::StateHistory& history,
             const replay::MemoryAt& memory);

}  // namespace gpustrata::answers
