// Writes a part whose series are categories as export_memory_timeline() plots it:
// [[time, ...], [[0, bytes of each of 8 categories], ...]], microseconds since the epoch.
//
// A raw timeline is put together as the exporter does it: a row is the state after all changes of a microsecond, and
// what was there before is a row of its own, first, at the smallest time. The exporter divides times as doubles, so that
// the last nanoseconds of a microsecond may count to the next one; so does this.
#pragma once

#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// `recording` must be sealed. Error: what the sink says.
[[nodiscard]] Status write_memory_timeline(const model::Recording& recording, const model::Part& part,
                                           ByteSink& sink);

}  // namespace gpustrata::io
