// The level of a device step by step, or region by region: so that curves of two runs can be laid over each other where
// their steps are as long, however many events each has.
//
// Every stretch is cut into the same number of columns, each with as many events, or one more. A column has the highest
// level after its events, and the highest of what is reserved; one without events has those of the event before. O(events).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/steps/marks.h"
#include "engine/analysis/steps/steps.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

// Events [begin, end).
struct Stretch {
  int32_t begin = 0, end = 0;

  bool operator==(const Stretch&) const = default;
};

struct StepCurve {
  std::vector<int32_t> event;           // of the highest level; -2 = there is no such stretch
  std::vector<double> level, reserved;  // NaN there
};

// Columns [0, count * columns_each): of the first `count` stretches, which ascend and do not overlap.
[[nodiscard]] StepCurve step_curve(const replay::BlockLives& lifetimes, std::span<const Stretch> stretches,
                                   int32_t count, int32_t columns_each);

// The first `most` steps.
[[nodiscard]] std::vector<Stretch> stretches_of(const Steps& steps, int32_t most);
// The first `most` regions of that name, in the order in which they begin; not those inside of one of their own name, or
// without an event.
[[nodiscard]] std::vector<Stretch> stretches_of(const model::Recording& recording,
                                                std::span<const Region> regions, std::string_view name,
                                                int32_t most);

}  // namespace gpustrata::analysis
