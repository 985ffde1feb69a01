// Writes a part whose series are operators as MemoryTracker's own pickle, so that its load() and show_traces() open it.
//
// Protocol 4, which Python 3.4 and later read: the same tables, sizes in MiB as doubles (exact below 2^53 bytes),
// collections.defaultdict for the tables and with int for the markers, each name written once. Names that are no UTF-8
// get U+FFFD. An operator that a table lacks is not in it.
#pragma once

#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// `recording` must be sealed. Error: limit_exceeded, or what the sink says.
[[nodiscard]] Status write_memory_tracker(const model::Recording& recording, const model::Part& part,
                                          ByteSink& sink);

}  // namespace gpustrata::io
