// What groups of blocks of two recordings hold, paired: moments, files, runs.
//
// They hold hashes of texts and numbers, nothing else: they are small, whatever the file is, and those of two recordings
// can be compared where only one of them is open (session/README.md).
#pragma once

#include <cstdint>

#include "engine/analysis/live/top.h"
#include "engine/analysis/stacks/shown_stacks.h"
#include "engine/base/column.h"
#include "engine/base/saturating.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

struct BeforeAfter {
  int64_t before = 0, after = 0;

  [[nodiscard]] int64_t growth() const { return saturated_difference(after, before); }
  BeforeAfter& operator+=(const BeforeAfter& more) {
    add_saturated(before, more.before);
    add_saturated(after, more.after);
    return *this;
  }
};

// One recording and what is alive in it, by anything but by::stack.
struct Side {
  const model::Recording& recording;
  const Top& top;
};

struct CarriedStack {
  ShownKey shown;          // of its lines, or of what else it is grouped by; zero = no stack
  ShownKey without_lines;  // of its functions and files: what stays when somebody edits the file above
  int64_t bytes = 0, blocks = 0;
  StackId stack;  // of the recording the stacks are of, where that is at hand
  int32_t largest_rank = -1;
};

struct CarriedStacks {
  explicit CarriedStacks(Budget& budget) : stacks(budget) {}

  int64_t bytes = 0, blocks = 0;            // of everything alive
  Column<CarriedStack> stacks;              // as the groups: largest first
  int64_t rest_bytes = 0, rest_blocks = 0;  // of the others: all together are `bytes` and `blocks`
};

// Of every group. O(groups * frames). Error: limit_exceeded.
[[nodiscard]] Result<CarriedStacks> carried_stacks(const Side& side);

// One stack of either, or the same of both.
struct ComparedPart {
  int32_t before = -1, after = -1;  // numbers of stacks; -1 = that one has no such stack
  bool lines_moved =
      false;  // the same functions in the same files, called from each other, but at other lines
  BeforeAfter bytes, blocks;

  [[nodiscard]] bool changed() const { return bytes.growth() != 0 || blocks.growth() != 0; }
};
struct ComparedParts {
  explicit ComparedParts(Budget& budget) : parts(budget) {}

  BeforeAfter bytes, blocks;   // of everything alive
  Column<ComparedPart> parts;  // all; the one that grew most first
  // Of stacks that were not carried. With the parts they add up, exactly.
  BeforeAfter rest_bytes, rest_blocks;
};
// Stacks of one side differ. What only one of them has is paired `by_functions` if it differs in numbers of lines alone: of
// several the largest with the largest. O(stacks log stacks), charged to `budget`. Error: limit_exceeded.
enum class Paired : uint8_t { by_all_lines, by_functions };
[[nodiscard]] Result<ComparedParts> pair(const CarriedStacks& before, const CarriedStacks& after,
                                         Paired paired, Budget& budget);

}  // namespace gpustrata::analysis
