// Where memory is, by stack.
//
// A line is stream_N, then the segment if asked for, then the state, then the frames as file:line:function
// (file without its folders, hidden frames left out, see frame_filter.h). Blocks without frames are
// <non-python>. The bytes a block has beyond its request are an entry <gaps> beside its frames. Every stack
// is looked at once, however many blocks have it.
#pragma once

#include <string_view>

#include "engine/analysis/calls/folded_stacks.h"
#include "engine/analysis/device/stream_numbers.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

struct FlameOptions {
  bool segments = false;  // with the segment's address between stream and state
  bool inactive = true;   // free memory too, as the state `inactive`
};
// Sealed. O(blocks log blocks + frames of their stacks). Error: limit_exceeded.
[[nodiscard]] Result<FoldedStacks> fold_memory(const model::Recording& recording,
                                               const replay::StateHistory& history,
                                               const replay::MemoryAt& memory, const StreamNumbers& streams,
                                               const FlameOptions& options);

// Bytes that only one side has, per stack, under the roots only_before and only_after, followed by `place`
// unless that is empty; added to `into`, which is sealed by the caller. Both are sealed. Error:
// limit_exceeded.
[[nodiscard]] Status add_difference(FoldedStacks& into, const FoldedStacks& before, const FoldedStacks& after,
                                    std::string_view place);

}  // namespace gpustrata::analysis
