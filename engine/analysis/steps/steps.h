// The steps of a run: the pieces of its history that do the same again and again.
//
// Found by the first of these that tells of them:
//   annotations  regions of the profiler, "ProfilerStep#12"
//   regions      regions of one name, numbers in it left out, that come at least three times and are named for a step
//                ("train_step", "iteration 7")
//   loop         the loop of the program that counts, told by source lines (loops.h), if it trains or is sure (kSureLoop)
//   regions      the optimizer's or the data loader's own ("Optimizer.step#AdamW.step"), or those of a part of a step
//   loop         any that there is
//
// A region that begins inside of the last one of its kind is no step. One without an end lasts as long as the recording.
// A step goes from its beginning to the beginning of the next one; what lies between two regions (an evaluation)
// belongs to the step before. The last one goes to the end of its region; in a loop, to its last allocation.
#pragma once

#include <cstdint>

#include "engine/analysis/steps/loops.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

inline constexpr int32_t kFewestSteps = 3;  // fewer repetitions are no steps, unless the profiler says so

// A loop of less sureness is shown, but that it does not leak is not said.
inline constexpr double kSureLoop = 0.7;

enum class StepsFrom : uint8_t { nothing, annotations, regions, loop };

struct Steps {
  explicit Steps(Budget& budget) : begin(budget) {}

  StepsFrom from = StepsFrom::nothing;
  StringId name;                // of regions: that of the first
  LoopPlace loop;               // of a loop
  bool trains = true;           // of a loop: it has an optimizer or a backward pass in it
  NoLoop why_not = NoLoop::no;  // there are no steps
  Column<int32_t> begin;        // per step: its first event; ascending
  int32_t end = 0;              // the first event after the last step
  bool last_is_whole = true;
  double sureness = 0;  // 0 to 1

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(begin.size()); }
};

// Error: limit_exceeded.
[[nodiscard]] Result<Steps> find_steps(const model::Recording& recording, const model::Part& part,
                                       const replay::DeviceRows& rows, const replay::BlockLives& lives);

}  // namespace gpustrata::analysis
