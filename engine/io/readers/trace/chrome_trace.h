// Traces of torch.profiler and Kineto in the format of Chrome's tracing: {"traceEvents": [...], ...} or the bare list
// of older writers.
//
// Read are whole events (ops, annotations, Python functions, calls of the runtime, kernels) as spans, "[memory]" and
// "[OutOfMemory]" as events of an allocator, names of threads, and the base of times. Everything else is left out;
// events of unknown kinds are counted. Times are nanoseconds from the letters of the text. Files from 2021 on; those
// without `Addr` or totals as well. What is not quite JSON is read as it was meant (trace_text.h); a trace that ends
// inside shows all whole events.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// Memory is charged to the budget of `recording`, except an input buffer of 2 MiB.
[[nodiscard]] std::unique_ptr<Reader> chrome_trace_reader(model::Recording& recording);

}  // namespace gpustrata::io
