// What is alive on a device at a moment, stack by stack, and two of those compared.
//
// Facts hold hashes of texts and numbers, nothing else: they are small, whatever the file is, and those of two recordings
// can be compared where only one of them is open (session/README.md). Stacks that are shown as the same lines are one
// (shown_stacks.h).
#pragma once

#include <cstdint>

#include "engine/analysis/compare.h"
#include "engine/analysis/shown_stacks.h"
#include "engine/base/column.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

struct StackFact {
  ShownKey shown;          // of its lines; zero = no stack
  ShownKey without_lines;  // of its functions and files: what stays when somebody edits the file above
  int64_t bytes = 0, blocks = 0;
  StackId stack;  // of the recording the facts are of, where that is at hand
  int32_t largest_rank = -1;
};

struct StackFacts {
  explicit StackFacts(Budget& budget) : facts(budget) {}

  int64_t bytes = 0, blocks = 0;            // of everything alive
  Column<StackFact> facts;                  // largest first; at most the limit
  int64_t rest_bytes = 0, rest_blocks = 0;  // of the others: all together are `bytes` and `blocks`
};

// `side` is grouped by stack, without a limit. O(groups * frames + groups log groups). Error: limit_exceeded.
[[nodiscard]] Result<StackFacts> stack_facts(const Side& side, size_t limit);

// One stack of either, or the same of both.
struct ComparedPart {
  int32_t before = -1, after = -1;  // numbers of facts; -1 = that one has no such stack
  bool lines_moved =
      false;  // the same functions in the same files, called from each other, but at other lines
  BeforeAfter bytes, blocks;
};
struct ComparedParts {
  explicit ComparedParts(Budget& budget) : parts(budget) {}

  BeforeAfter bytes, blocks;            // of everything alive
  Column<ComparedPart> parts;           // all; the one that grew most first
  BeforeAfter rest_bytes, rest_blocks;  // beyond the limits of the facts. With the parts they add up, exactly
};
// Stacks that only one of them has are paired if they differ in numbers of lines alone: of several the largest with the
// largest. O(facts log facts), charged to `budget`. Error: limit_exceeded.
[[nodiscard]] Result<ComparedParts> compare_parts(const StackFacts& before, const StackFacts& after,
                                                  Budget& budget);

}  // namespace gpustrata::analysis
