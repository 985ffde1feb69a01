// `gpustrata convert --to arrow`: one table of a file as an Arrow IPC file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cli/failure.h"
#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::cli {

struct ArrowChoice {
  std::string table;               // "events", "blocks", "segments", "lives", "stacks"
  std::optional<size_t> snapshot;  // none = all
  std::string device;              // ordinal or "host"; empty = all, pinned host memory last
};

// The rows that were written. Failure: wrong_usage, about --device; limit_exceeded and what the sink says, about `output`.
[[nodiscard]] Outcome<int64_t> write_arrow(const model::Recording& recording, const ArrowChoice& choice,
                                           io::ByteSink& sink, const std::string& output);

}  // namespace gpustrata::cli
