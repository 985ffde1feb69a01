// The steps of a run: the pieces of its history that do the same again and again.
//
// Found by the first of these that tells of them:
//   annotations  regions of the profiler, "ProfilerStep#12"
//   regions      regions of one name, numbers in it left out, that come at least three times: named for a step
//                ("train_step", "iteration 7"), else the optimizer's or the data loader's own ("Optimizer.step#AdamW.step")
//   period       the calls themselves. A call site that is entered again and again, always from outside of modules,
//                optimizers and autograd (what repeats in there are layers and parameters): of the numbers of times
//                that call sites are entered, the one that most allocations agree on
//
// A region that begins inside of the last one of its kind is no step. One without an end lasts as long as the recording.
// A step goes from its beginning to the beginning of the next one; what lies between two regions (an evaluation)
// belongs to the step before. The last one goes to the end of its region; by period, to the last event.
// O(events * frames, at most kMostStepFrames).
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

inline constexpr int32_t kMostStepFrames = 100;  // outermost ones that are looked at
inline constexpr int32_t kFewestSteps = 3;  // fewer repetitions are no steps, unless the profiler says so

enum class StepsFrom : uint8_t { nothing, annotations, regions, period };

struct Steps {
  explicit Steps(Budget& budget) : begin(budget) {}

  StepsFrom from = StepsFrom::nothing;
  StringId name;          // of regions: that of the first
  FrameId anchor;         // of a period: the call that begins a step
  Column<int32_t> begin;  // per step: its first event; ascending
  int32_t end = 0;        // the first event after the last step
  bool last_is_whole = true;
  double sureness = 0;     // 0 to 1: share of allocations that repeat so
  int32_t call_sites = 0;  // of a period: different stacks that allocate at least once in two steps

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(begin.size()); }
};

// Error: limit_exceeded.
[[nodiscard]] Result<Steps> find_steps(const model::Recording& recording, const model::Part& part,
                                       const replay::DeviceRows& rows);

}  // namespace gpustrata::analysis
