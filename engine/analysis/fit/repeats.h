// Requests that a program repeats as often as a parameter says (micro-batches, layers, tokens), told from recordings in which it does
// so more and less often.
//
// Where two recordings part, one of them may go on with what it has just done, some whole turns more, and then with what the other
// does. The shortest turn is taken of which sizes are the same each time, or grow by the same, else the shortest. What the
// recordings repeat equally often is no repeat here, and one within another is none, either.
// O(requests * recordings), and kMostComparisons where they part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/budget.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

// The requests of a recording.
struct RequestSequence {
  std::span<const int32_t> symbol;  // equal: asked for by the same lines
  std::span<const int64_t> size;
  int32_t before = 0;  // as many of them are in no order that the program has: none of these is repeated

  [[nodiscard]] int32_t symbol_of(int32_t at) const { return symbol[static_cast<size_t>(at)]; }
  [[nodiscard]] int64_t size_of(int32_t at) const { return size[static_cast<size_t>(at)]; }
};

struct FoundRepeat {
  int32_t period = 0;                 // requests of a turn
  std::vector<int32_t> begin, times;  // by recording; `times` at least 1, not all the same
  [[nodiscard]] int32_t end(size_t recording) const { return begin[recording] + times[recording] * period; }
};

// In order; they do not overlap. `all`: two at least. Error: limit_exceeded.
[[nodiscard]] Result<std::vector<FoundRepeat>> find_repeats(std::span<const RequestSequence> all,
                                                            Budget& budget);

}  // namespace gpustrata::analysis
