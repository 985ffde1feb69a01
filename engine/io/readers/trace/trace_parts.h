// What a trace tells together: spans in their order, each memory record below the op it happened in, and the parts
// of the recording, one for each kind of device.
//
// A record becomes an event of an allocator: an alloc or a free by the sign of its bytes, whose stack are the ops
// around it, innermost first, then the Python functions. What was allocated before the first record is one block
// that lasts (model::DeviceTrace::from_start), less what the trace frees of it.
#pragma once

#include <cstdint>

#include "engine/io/readers/trace/trace_rows.h"
#include "engine/model/recording.h"

namespace gpustrata::io::traces {

// O(n log n). False: memory was refused; parts may be missing then.
[[nodiscard]] bool make_parts(model::Recording& recording, Rows& rows, const model::Clock& clock);

}  // namespace gpustrata::io::traces
