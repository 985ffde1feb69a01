// The state after one event as far as it can be told without undoing all events: what one sees while a long trace is still
// worked on (state_history.h).
//
// Segments are exact. Blocks are those that BlockLives has, at their addresses, those of the dump with the dump's sizes; the
// size of another is the request rounded up, or all up to its next neighbour if the allocator would not have split that. So a
// block that got more than it asked for may be drawn too small where its neighbour came later, and where events contradict
// each other, what StateHistory repairs is left out.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/device.h"
#include "engine/replay/state_history.h"

namespace gpustrata::replay {

struct StateSketch {
  explicit StateSketch(Budget& budget) : history(budget), rank_of_block(budget) {}

  // Without events: the state before the first one (-1) is that after the event that was asked for.
  StateHistory history;
  Column<int32_t> rank_of_block;  // per row of history.blocks
};

// -1 = before the first event; events beyond the last are the last. O(events + blocks of the device), a hundredth of what
// undo_to_start() costs. Error: limit_exceeded.
[[nodiscard]] Result<StateSketch> sketch_state(const Device& device, int32_t event);

}  // namespace gpustrata::replay
