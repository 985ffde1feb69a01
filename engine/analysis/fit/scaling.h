// Which requests of one recording grow with a number that the run was made with: a guess, by what their blocks are for
// (categories.h).
//
//   grows    activations and inputs whose size divides by the number; temporary memory, too, unless it is the optimizer's or is as
//            large as a parameter or gradient, as what a backward pass computes for these is
//   stays    parameters, gradients, the optimizer's state, workspaces, buffers of communication, the optimizer's temporary memory, and
//            whatever does not divide
//   unknown  the rest
#pragma once

#include <cstdint>

#include "engine/analysis/device/device.h"
#include "engine/analysis/fit/matched_requests.h"
#include "engine/analysis/what_if/what_if.h"
#include "engine/base/column.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

enum class Scales : uint8_t { stays, grows, unknown };

// By request of the one recording that is matched. Error: limit_exceeded.
[[nodiscard]] Result<Column<Scales>> guess_scaling(Device& device, const Rehearsal& rehearsal,
                                                   const MatchedRequests& matched, int64_t number,
                                                   Budget& budget);

}  // namespace gpustrata::analysis
