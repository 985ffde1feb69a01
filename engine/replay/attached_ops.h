// A snapshot and a profiler's trace of one run: each allocation of the snapshot gets the ops that were running then.
//
// Which op that is says op_finder.h; where it cannot be told the allocation is counted and keeps its stack.
// The ops become frames without a file, innermost first, in front of the allocation's own stack, as the stacks of a
// trace are: filters (op:"aten::mm"), tables and flame graphs work on them as they do there.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::replay {

struct AttachedOps {
  int64_t allocations = 0;  // of the snapshot
  int64_t by_record = 0, by_time = 0;
  int64_t on_several_threads = 0;  // not attached
  int64_t in_no_op = 0;
  int64_t without_time = 0;
  int64_t outside = 0;  // before the trace's first op or after its last one
  // Nanoseconds since the Unix epoch, of allocations with a time, and of ops; none = there are none.
  std::optional<int64_t> first_allocation_ns, last_allocation_ns, first_op_ns, last_op_ns;
};

struct AttachWanted {
  int64_t offset_us = 0;  // added to the times of the snapshot
  bool ops_only = false;  // stacks of ops in place of the snapshot's own; allocations without an op have none
};

// Changes the stacks of the snapshot's events. O((allocations + spans) log n). Error: wrong_usage (the trace has no ops,
// the snapshot no allocations), limit_exceeded; the stacks may be changed in part then.
[[nodiscard]] Result<AttachedOps> attach_ops(model::Recording& snapshot, const model::Recording& trace,
                                             const AttachWanted& wanted);

}  // namespace gpustrata::replay
