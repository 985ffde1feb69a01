// Leaks: stacks whose live bytes grow step after step, at the same point of the step, to the end of the recording.
//
// Live bytes of a stack (those shown alike are one, shown_stacks.h) are taken after the last event before every
// step, and after the last step. A stack leaks if
//   - it grew in bytes and in blocks in at least kFewestGrowths steps,
//   - up to the last whole step of the recording (of six steps and more the last but one will do),
//   - in at least 6 of 10 steps since the first of them, at most one step left out at a time,
//   - for at least a fifth of all steps, and never shrank since.
// So none of these is one: what comes in the first steps and stays (warm-up, optimizer state, buffers that grow once),
// what is replaced (caches, gradients, batches), a queue that is full, what an evaluation takes and gives back. A
// queue or cache that is still filling when the recording ends cannot be told from a leak.
//
// By period alone a recording of one pass through many layers looks like steps that keep all they make: where four and
// more, a third of the call sites, would leak, none is said to.
// O(blocks log blocks). Blocks that live within one step cost nothing but a look.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/steps/steps.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

inline constexpr int32_t kFewestGrowths = 3;
inline constexpr size_t kMostLeaks = 100;
// Of leaks by period: with less confidence it is only said that there may be one.
inline constexpr double kSureLeak = 0.8;

struct Leak {
  StackId stack;                // none = blocks without one
  int64_t bytes_per_step = 0;   // median of the steps in which it grew
  int64_t blocks_per_step = 0;  // the same
  int32_t steps = 0;            // in which it grew
  int32_t first_step = 0;       // counted from 0
  int64_t live_bytes = 0;       // at the end, of blocks since the first of them
  int64_t live_blocks = 0;
  int32_t largest_rank = -1;  // of those
  double confidence = 0;      // 0 to 1: how sure the steps are, how many grew, and how regularly
};

struct Leaks {
  std::vector<Leak> leaks;  // most live bytes first, at most kMostLeaks
  int64_t left_out = 0;
  int64_t live_bytes = 0;  // of all
};

// Steps that are marked, or one leak at least that grows too regularly to be a guess.
[[nodiscard]] bool are_sure(const Leaks& leaks, const Steps& steps);

// `stacks` is BlockAttributes::stack of the same timeline. Error: limit_exceeded.
[[nodiscard]] Result<Leaks> find_leaks(const model::Recording& recording, const replay::BlockLives& lifetimes,
                                       const Column<StackId>& stacks, const Steps& steps);

}  // namespace gpustrata::analysis
