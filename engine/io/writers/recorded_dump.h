// From running allocators to a snapshot file in one call.
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace gpustrata::io
