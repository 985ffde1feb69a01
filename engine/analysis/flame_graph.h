// Where memory is, as stacks with bytes: folded lines and a picture.
//
// A stack is one line "root;...;leaf bytes", outermost first, as flame graph tools read it: stream_N, then
// the segment if asked for, then the state, then the frames as file:line:function (file without its folders,
// hidden frames left out, see frame_filter.h). Blocks without frames are <non-python>. The bytes a block has
// beyond its request are an entry <gaps> beside its frames.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/analysis/stream_numbers.h"
#include "engine/replay/memory_at.h"

namespace memstrata::analysis {

using FoldedStacks = std::map<std::string, int64_t>;  // by text; bytes > 0

struct FlameOptions {
  bool segments = false;  // with the segment's address between stream and state
  bool inactive = true;   // free memory too, as the state `inactive`
};
[[nodiscard]] FoldedStacks fold_memory(const model::Recording& recording, const replay::StateHistory& history,
                                       const replay::MemoryAt& memory, const StreamNumbers& streams,
                                       const FlameOptions& options);

// One line each: text, a space, bytes.
[[nodiscard]] std::string folded_text(const FoldedStacks& stacks);

// A standing picture of its own: no script, no font and nothing else from outside; every rectangle has its
// text and exact bytes as a title. Rectangles narrower than a tenth of a pixel are left out; their bytes stay
// in what is below them. O(bytes of all lines).
[[nodiscard]] std::string flame_svg(const FoldedStacks& stacks, const std::string& title);

}  // namespace memstrata::analysis
