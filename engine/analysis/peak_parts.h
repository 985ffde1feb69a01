// What the peak is made of: the blocks alive at it, by stack.
//
// The peak is the earliest event after which the level is highest, by the rule of the timeline
// (replay/block_lives.h); -1 is the state before the first event. Bytes are requested bytes. Stacks that are shown as
// the same lines are one part (shown_stacks.h). Parts and rest add up to the peak, exactly.
// O(blocks log blocks + frames of the stacks alive).
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostPeakParts = 20;

struct PeakPart {
  StackId stack;  // none = blocks without one
  int64_t bytes = 0, blocks = 0;
  int32_t largest_rank = -1;  // rank of the largest block
};

struct PeakParts {
  explicit PeakParts(Budget& budget) : parts(budget) {}

  int32_t event = -1;
  int64_t bytes = 0, blocks = 0;
  Column<PeakPart> parts;  // largest first, at most the limit
  int64_t rest_bytes = 0, rest_blocks = 0, rest_parts = 0;
};

// Error: limit_exceeded.
[[nodiscard]] Result<PeakParts> find_peak_parts(const model::Recording& recording, const model::Part& part,
                                                const replay::BlockLives& lifetimes,
                                                size_t limit = kMostPeakParts);

}  // namespace gpustrata::analysis
