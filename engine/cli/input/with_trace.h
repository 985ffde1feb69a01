// --with TRACE [--offset MICROSECONDS]: a snapshot whose allocations know the ops of a profiler's trace of the same run.
#pragma once

#include <cstdint>
#include <string>

#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/model/recording.h"
#include "engine/replay/attached_ops.h"

namespace gpustrata::cli {

struct WithTrace {
  std::string trace;  // empty = none
  replay::AttachWanted wanted;
};

// Reads the trace, which is gone afterwards, and gives its ops to the snapshot `file` (replay/attached_ops.h). Failure: as
// read_recording(), or wrong_usage.
[[nodiscard]] Outcome<replay::AttachedOps> attach_trace(const WithTrace& with, const std::string& file,
                                                        model::Recording& snapshot, const Console& console);

}  // namespace gpustrata::cli
