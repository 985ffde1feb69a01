// What the memory of a moment has several times over: the same blocks again and again, as the layers of a model leave them.
//
// Of blocks that the recording saw being allocated, in that order: a repeat is a piece of it, below one call, that comes again
// with the same lines (call_sites.h) and sizes, kFewestRepeats times and more. Blocks that are not as many are looked past (what
// the first layer sets up, what the last one is still at), and so are tiny ones; the last repeat may not be whole. A repeat within
// a repeat is its inner level: so many times in each of the outer one. Told from blocks alone, so that calls of one function one
// after the other are a repeat as well as a loop. O(blocks log blocks + calls looked below * (blocks + call sites)).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/steps/loops.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

inline constexpr double kLeastRepeated = 0.1;  // of the bytes of the moment: less is not looked for

struct Repeat {
  int32_t outer = -1;  // index of the repeat that this one is within
  int32_t count = 0;   // whole ones; of an inner level in each of the outer's
  LoopPlace place;     // the lines below which all of it lies
  int64_t bytes = 0;   // of one, requested
  int64_t blocks = 0;  // the same
  // Of one: what the line of the program with most of it has; none = one line has all, or nobody knows.
  FrameId line;
  int64_t line_bytes = 0;
  std::vector<int32_t> ranks;  // of all whole ones, in their order: `blocks` for each

  // Of all repeats, of those of the outer ones, too.
  [[nodiscard]] int64_t all_blocks() const { return static_cast<int64_t>(ranks.size()); }
};

// Outer before inner ones; of one level those with most bytes first. Error: limit_exceeded.
[[nodiscard]] Result<std::vector<Repeat>> find_repeats(const model::Recording& recording,
                                                       const replay::BlockLives& lives, int32_t event);

}  // namespace gpustrata::analysis
