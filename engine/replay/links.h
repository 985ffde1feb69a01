// The same block in the state history, in the trace and in the timeline.
#pragma once

#include <cstdint>

#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/state_history.h"

namespace gpustrata::replay {

// Events of a row of StateHistory::blocks; -1 = not in the trace.
struct BlockEvents {
  int32_t alloc = -1;
  int32_t free_requested = -1;
  int32_t free_completed = -1;  // or `free`; the request where the trace has no completions
};
[[nodiscard]] BlockEvents events_of_block(const model::Recording& recording, const StateHistory& history,
                                          int32_t block);

// Rank in the timeline, -1 = it is not there. O(log blocks), of a block from the start O(those).
[[nodiscard]] int32_t rank_of_block(const model::Recording& recording, const StateHistory& history,
                                    const BlockLives& lives, int32_t block);
// Row of StateHistory::blocks, -1 = it never existed after any event. The same complexity.
[[nodiscard]] int32_t block_of_rank(const StateHistory& history, const BlockLives& lives, int32_t rank);
// The ranks of all blocks, -1 = none. O(blocks). False = no memory.
[[nodiscard]] bool rank_blocks(const model::Recording& recording, const StateHistory& history,
                               const BlockLives& lives, Column<int32_t>& rank_of_block);

}  // namespace gpustrata::replay
