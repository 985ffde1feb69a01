// The level of a device step by step: so that curves of two runs can be laid over each other where their steps are as
// long, however many events each has.
//
// Every step is cut into the same number of columns, each with as many events, or one more. A column has the highest level
// after its events, and the highest of what is reserved; one without events has those of the event before. O(events).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/steps.h"
#include "engine/replay/block_lives.h"

namespace memstrata::analysis {

struct StepCurve {
  std::vector<int32_t> event;           // of the highest level; -2 = there is no such step
  std::vector<double> level, reserved;  // NaN there
};

// Columns [0, steps * columns_per_step): of the first `count` steps.
[[nodiscard]] StepCurve step_curve(const replay::BlockLives& lifetimes, const Steps& steps, int32_t count,
                                   int32_t columns_per_step);

}  // namespace memstrata::analysis
