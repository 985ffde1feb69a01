// From running allocators to a snapshot file in one call.
#pragma once

#include <cstdint>
#include <span>

#include "engine/io/writers/torch_snapshot.h"
#include "engine/model/recorded_snapshot.h"

namespace gpustrata::tests {

// `limit_bytes` is the memory that the tables in between may take.
[[nodiscard]] inline Status dump_snapshot(const trace::Recorder& recorder,
                                          std::span<alloc::DeviceAllocator* const> allocators,
                                          int64_t limit_bytes, io::ByteSink& sink) {
  Budget budget(limit_bytes);
  model::Recording recording(budget);
  if (Status taken = model::take_snapshot(recorder, allocators, {}, recording); !taken) return taken;
  recording.seal();
  return io::write_torch_snapshot(recording, sink);
}

}  // namespace gpustrata::tests
