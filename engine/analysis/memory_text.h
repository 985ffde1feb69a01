// What `memstrata stats` and `memstrata trace` print: the memory and the history of a device as text.
#pragma once

#include <string>

#include "engine/analysis/event_json.h"
#include "engine/replay/memory_at.h"

namespace memstrata::analysis {

// Segments as bars of one character per page of 20 MiB (2 MiB for segments below 20 MiB), by size and active
// bytes: a letter for a page that one block is in, a digit for the filled tenths of a page that several are
// in, * if it is full, a space if it is empty. Then sums. Blocks in use are active_allocated ones; pending
// ones are told apart.
[[nodiscard]] std::string stats_text(const EventContext& context, const replay::MemoryAt& memory);
// {"device","event","reserved","allocated","pending","requested","rounding","free","free_blocks","largest_free",
//  "segments":[{"address","name","size","allocated","pending","requested","rounding","free","stream","pool","bar"}]}
[[nodiscard]] std::string stats_json(const EventContext& context, const replay::MemoryAt& memory);

// The events as a program: "b0 = s0[0x200:1.0 KiB]", "del b0", "s0 = cudaMalloc(0x7f.., 2.0 MiB)", and what
// is live in the end. A name belongs to one life of a block or segment; what is older than the trace is named
// when it is first met. At most `most` events, from `first` on.
[[nodiscard]] std::string trace_text(const EventContext& context, int32_t first, int32_t most);

}  // namespace memstrata::analysis
