// A recording as a Chrome trace, as Perfetto, chrome://tracing and the readers of this engine open it.
//
//   counters   "allocated" and "reserved" of each device, a process of its own; "pool 1:0" what is in use of a private pool; each
//              series of a part that is numbers over time
//   slices     the program's regions, on the device's process; ops, annotations and functions of a profiler's trace on their own
//              threads; operators of MemoryTracker, a step each; calls of profiled functions
//   instants   "[memory]" for each allocation and each free that is completed, as torch.profiler writes them, so that its readers
//              take the trace for one of theirs; "[OutOfMemory]"
// Times are microseconds with three decimals after `baseTimeNanoseconds`. A recording without times has a microsecond for each event
// or step, which `otherData` says.
#pragma once

#include <cstddef>

#include "engine/answers/text/text_out.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// Of all parts, or of the one with that index. O(rows). Error: limit_exceeded, what the sink says.
[[nodiscard]] Status export_trace(TextOut& out, const model::Recording& recording, size_t only_part);
inline constexpr size_t kAllParts = SIZE_MAX;

}  // namespace gpustrata::answers
