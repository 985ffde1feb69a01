// Are two recordings of one run, at two moments, or of two runs (or processes)?
//
// Told from one device of each. One run: an event of both at the same microsecond, with the same action and address. Where both
// have times and none is the same, nothing shows it: two processes that load the same weights can have the same addresses. Where
// one has no times: one run if segments with the same address and size are half of the smaller one's bytes at least.
#pragma once

#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

struct SideOfRun {
  const model::Recording& recording;
  const model::Part& part;
  int32_t device;
};
// O(events looked at * log events + segments log segments). Error: limit_exceeded.
[[nodiscard]] Result<bool> are_of_one_run(const SideOfRun& before, const SideOfRun& after);

}  // namespace gpustrata::analysis
