// The memory of a device after one event as JSON: the answer of `memstrata state --json`.
#pragma once

#include <string>

#include "engine/model/recording.h"
#include "engine/replay/memory_at.h"

namespace memstrata::analysis {

// {"device","event","reserved_bytes","allocated_bytes","active_bytes","segments":[{"address","total_size",
//  "stream","pool","blocks":[{"address","size","requested_size","state"}]}]} on one line. Addresses are texts
// "0x...", segments and blocks ascend by address; stream is the raw handle, pool [a, b], both null if the
// file does not say. Only if there are any: "blocks_without_segment":[{block},...].
[[nodiscard]] std::string state_json(const model::Recording& recording, const replay::StateHistory& history,
                                     const replay::MemoryAt& memory);

[[nodiscard]] std::string_view name_of(model::BlockState state);

}  // namespace memstrata::analysis
