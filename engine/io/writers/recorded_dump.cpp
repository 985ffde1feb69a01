#include "engine/io/writers/recorded_dump.h"

#include <utility>

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

void dump_on_oom(const trace::Recorder& recorder, std::vector<alloc::DeviceAllocator*> allocators,
                 OomDump dump) {
  struct Shared {
    std::vector<alloc::DeviceAllocator*> allocators;
    OomDump dump;
  };
  const auto shared = std::make_shared<Shared>(Shared{std::move(allocators), std::move(dump)});
  for (alloc::DeviceAllocator* allocator : shared->allocators) {
    allocator->add_oom_observer([&recorder, shared](const alloc::OutOfMemory& oom) {
      std::unique_ptr<ByteSink> sink = shared->dump.open(oom);
      if (!sink) return;
      Status status = dump_snapshot(recorder, shared->allocators, shared->dump.limit_bytes, *sink);
      if (shared->dump.close) shared->dump.close(std::move(sink), std::move(status));
    });
  }
}

}  // namespace gpustrata::io
