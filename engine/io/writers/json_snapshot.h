// Writes a Recording as JSON, in the shape of PyTorch's snapshots (torch_snapshot.h); the web viewer of 2026
// opens such files. Tuples are arrays. Integers are exact, which many JSON readers lose above 2^53: addresses
// can be texts like "0x7f3a00000200" instead.
//
// JSON has no references, so every event repeats its stack: 10 to 100 times the size of the pickle. What
// would pass the limits of text_size.h is refused, before anything is written if that can be known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/io/byte_sink.h"
#include "engine/io/writers/torch_snapshot.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

struct JsonOptions {
  size_t snapshot = kAllSnapshots;
  bool hex_addresses = false;  // address and addr as texts, also those of history
};

// `recording` must be sealed. Error: limit_exceeded, or what the sink says.
[[nodiscard]] Status write_json_snapshot(const model::Recording& recording, ByteSink& sink,
                                         const JsonOptions& options = {});

}  // namespace gpustrata::io
