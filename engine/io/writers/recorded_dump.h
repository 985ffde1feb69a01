// From running allocators to a snapshot file in one call, and whenever one of them runs out of memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/io/byte_sink.h"
#include "engine/model/recorded_snapshot.h"
#include "engine/trace/recorder.h"

namespace gpustrata::io {

// take_snapshot() and write_torch_snapshot(); `limit_bytes` is the memory that the tables in between may
// take.
[[nodiscard]] Status dump_snapshot(const trace::Recorder& recorder,
                                   std::span<alloc::DeviceAllocator* const> allocators, int64_t limit_bytes,
                                   ByteSink& sink);

struct OomDump {
  // Where the dump goes; null = not this time.
  std::function<std::unique_ptr<ByteSink>(const alloc::OutOfMemory&)> open;
  // The dump is complete or failed.
  std::function<void(std::unique_ptr<ByteSink>, Status)> close;
  int64_t limit_bytes = int64_t{1} << 30;
};
// The snapshot ends with the oom event. All arguments outlive the allocators; allocators must not be used in
// `open` and `close`.
void dump_on_oom(const trace::Recorder& recorder, std::vector<alloc::DeviceAllocator*> allocators,
                 OomDump dump);

}  // namespace gpustrata::io
