// The memory after an event in words and numbers: totals, one block, one segment, what lies under a pointer.
#pragma once

#include <string>

#include "engine/analysis/event_json.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/state_layout.h"

namespace memstrata::analysis {

// {"event","time_us": n|null,"reserved","allocated","active","requested","rounding": active - requested,
//  "free": reserved - active (of blocks in segments),"largest_free","free_blocks","live_blocks",
//  "pending_blocks","segments","blocks_without_segment","fragmentation": 0..1|null,"text"}
// fragmentation = 1 - largest_free / free: the share of the free memory inside segments that one request of
// any size cannot use because it is not in the largest free block; null without free memory. `text` says so.
[[nodiscard]] std::string totals_json(const EventContext& context, const replay::MemoryAt& memory);

// {"segment": row,"block": row|-1,"part": "segment"|"block"|"rounding"|"pending"|"gap","text"} or null:
// nothing is there. `text` has the lines of the official viewer: what it is, sizes, stream, private pool.
[[nodiscard]] std::string hit_json(const EventContext& context, const replay::MemoryAt& memory,
                                   const replay::StateLayout::Hit& hit);

// A row of StateHistory::blocks:
// {"row","name","address","size","requested_size","rounding",
//  "state": after the event|null (does not exist then),
//  "begin","end": n|-1 (event after which it is gone; -1 = never),"alloc_event","free_requested_event",
//  "free_completed_event","rank","segment": row after the event|-1,"stream","stream_handle","pool",
//  "compile_context","user_metadata","annotations":[text],"frames","stack_of": "alloc"|"block"|"free"|null,
//  "in_dump": bool,"annotations_left_out","frames_left_out"}
[[nodiscard]] std::string state_block_json(const EventContext& context, const replay::MemoryAt& memory,
                                           int32_t block);

// A row of StateHistory::ranges, seen after the event as the segment that holds it:
// {"row","name","address","size","free","rounding","allocated","active","requested","blocks","free_blocks",
//  "expandable": bool,"stream","stream_handle","pool","begin","end","begin_action": text|null,
//  "end_action": text|null,"frames","in_dump": bool,"frames_left_out"}; null if it does not exist then.
[[nodiscard]] std::string state_segment_json(const EventContext& context, const replay::MemoryAt& memory,
                                             int32_t range);

}  // namespace memstrata::analysis
