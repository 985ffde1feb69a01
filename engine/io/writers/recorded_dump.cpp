#include "engine/io/writers/recorded_dump.h"

#include "engine/io/writers/torch_snapshot.h"

namespace gpustrata::io {

Status dump_snapshot(const trace::Recorder& recorder, std::span<alloc::DeviceAllocator* const> allocators,
                     int64_t limit_bytes, ByteSink& sink) {
  Budget budget(limit_bytes);
  model::Recording recording(budget);
  if (Status taken = model::take_snapshot(recorder, allocators, {}, recording); !taken) return taken;
  recording.seal();
  return write_torch_snapshot(recording, sink);
}

}  // namespace gpustrata::io
