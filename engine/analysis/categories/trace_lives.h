// What a profiler's trace tells of the lives of blocks: in which op, backward pass or step of the optimizer each was made and
// freed. Conditions of category_rules.h that hold in traces only.
//
// A backward node is an op named "autograd::engine::evaluate_function: ..." or "...Backward", with a number or none behind
// it. A record is in backward if its op is a backward node or inside of one, or if all outermost ops of its thread are
// backward nodes. A backward pass goes from its first record to its last: it ends where an "Optimizer." or "ProfilerStep#"
// annotation begins before the next record in backward, or another allocation of its thread, or more than 8 of other threads.
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

// Sets Condition bits for each rank. Left empty where the part is no trace with records of this device. O(spans + events +
// blocks log spans). False: memory was refused.
[[nodiscard]] bool find_trace_lives(const model::Recording& recording, const model::Part& part,
                                    const replay::BlockLives& lives, Column<uint32_t>& conditions);

}  // namespace gpustrata::analysis
