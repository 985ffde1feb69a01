// A Recording written by a writer, as bytes.
#pragma once

#include <string>

#include "engine/io/byte_sink.h"
#include "engine/io/writers/torch_snapshot.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {

inline std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Empty if the writer failed.
inline std::string written(const model::Recording& recording, size_t snapshot = io::kAllSnapshots) {
  Budget budget(int64_t{1} << 30);
  io::MemorySink sink(budget);
  return io::write_torch_snapshot(recording, sink, snapshot) ? as_text(sink.bytes()) : std::string();
}

}  // namespace gpustrata::tests
