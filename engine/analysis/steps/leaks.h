// Leaks: stacks that keep more and more until the last step ends, at regular gaps.
//
// Judged at the end of the last step, not of the recording: what a list in a local variable keeps dies with its
// function. A stack (those shown alike are one, shown_stacks.h), of any thread, leaks if blocks of it that outlive the
// last step
//   - were born in at least kFewestGrowths steps (in a loop: not counting its first repeat, which sets up),
//   - from the first half of the steps on, up to the last whole one (of six steps and more one less will do, but then it is
//     less sure),
//   - at gaps that are alike: twice the gap in the middle at most, and in 6 of 10 steps where one was due,
//   - few of its blocks, at most a fifth as many, were kept for two steps and more and given back,
//   - and fewer than it kept of the last of those steps were given back in that step.
// What grows every second step or less often, as an evaluation does, is one after two times already if a leak that is
// sure has the same inner half of its stack: the same is kept there when it is called from another line.
// So none of these is one: what comes in the first steps and stays (warm-up, optimizer state, buffers that grow once,
// a cache that fills and stops), what is replaced (gradients, batches), the last n of something, a queue, what an
// evaluation takes and gives back; nor what is handed on: freed after the steps, bit by bit, between as many
// allocations. A cache that is still filling when the steps end cannot be told from a leak.
//
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
// With less confidence it is only said that there may be one.
inline constexpr double kSureLeak = 0.8;

struct Leak {
  StackId stack;                // none = blocks without one
  int64_t bytes_per_step = 0;   // of the steps in which it grew: the mean
  int64_t blocks_per_step = 0;  // the same
  int32_t steps = 0;            // in which it grew
  int32_t first_step = 0;       // counted from 0
  int32_t gap = 1;              // steps from one of them to the next: the one in the middle
  // When the last step ends, of blocks since the first of them: what is in use in passing left out.
  int64_t live_bytes = 0;
  int64_t live_blocks = 0;
  int32_t largest_rank = -1;  // of those
  int32_t freed_event = -1;   // the last of them is freed by this event, so none is left; -1 = some are
  // The loop inside the step that it grows in: a line that is come to so often in every step. none = once a step, or not known.
  FrameId inner;
  int32_t inner_repeats = 1;
  double confidence = 0;  // 0 to 1: how sure the steps are, how many grew, and how regularly
};

struct Leaks {
  std::vector<Leak> leaks;  // most live bytes first, at most kMostLeaks
  int64_t left_out = 0;
  int64_t live_bytes = 0;  // of all
  // In the second half more is in use before nearly each step than before the last one, whoever it belongs to.
  bool level_rises = false;
};

// How many grow too regularly to be a guess; of those in the list.
[[nodiscard]] size_t sure_leaks(const Leaks& leaks);

// `stacks` is BlockAttributes::stack of the same timeline. Error: limit_exceeded.
[[nodiscard]] Result<Leaks> find_leaks(const model::Recording& recording, const replay::BlockLives& lifetimes,
                                       const Column<StackId>& stacks, const Steps& steps);

}  // namespace gpustrata::analysis
