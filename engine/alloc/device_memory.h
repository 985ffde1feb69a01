// Where memory comes from: the CUDA driver on a GPU machine, SimulatedDevice elsewhere.
//
// DeviceAllocator calls it under its own lock; an implementation calls nothing back. Addresses of live
// ranges never overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace gpustrata::alloc {

// Why device memory could not be had. Out of memory lets the allocator try other ways; anything else is an
// error of the device and is reported as `text` at once.
struct DeviceFailure {
  bool out_of_memory = true;
  std::string text;
};
template <typename T>
using DeviceResult = tl::expected<T, DeviceFailure>;

struct DeviceMemoryInfo {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

using EventHandle = int64_t;  // of the implementation; >= 0

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  [[nodiscard]] virtual DeviceMemoryInfo info() = 0;

  // cudaMalloc, cudaFree. `bytes` is a multiple of 2 MiB (or of large_segment_size_mb).
  [[nodiscard]] virtual DeviceResult<uint64_t> allocate(int64_t bytes) = 0;
  virtual void free(uint64_t address, int64_t bytes) = 0;

  // Address space without memory (cuMemAddressReserve), and its end; nothing is mapped any more then.
  [[nodiscard]] virtual DeviceResult<uint64_t> reserve(int64_t bytes) = 0;
  virtual void release(uint64_t address, int64_t bytes) = 0;
  // Physical pages of `page_bytes` for [address, address + bytes), a whole number of them: all or none.
  [[nodiscard]] virtual DeviceResult<void> map(uint64_t address, int64_t bytes, int64_t page_bytes) = 0;
  virtual void unmap(uint64_t address, int64_t bytes, int64_t page_bytes) = 0;

  // A mark behind all work submitted to a stream so far. Each is released once, after it was seen finished
  // or waited for.
  [[nodiscard]] virtual DeviceResult<EventHandle> record_event(int64_t stream) = 0;
  [[nodiscard]] virtual bool is_finished(EventHandle event) = 0;
  virtual void wait(EventHandle event) = 0;
  // False if no event became finished since this was asked last; then none is asked for.
  [[nodiscard]] virtual bool may_have_finished() { return true; }
  virtual void release_event(EventHandle event) = 0;
  // Waits for all work of a stream (before pages that it may use are unmapped).
  virtual void wait_for_stream(int64_t stream) = 0;

  // Sentences for the out-of-memory text about what processes use ("Process 123 has 2.00 GiB memory in use.
  // "), empty if it is not known.
  [[nodiscard]] virtual std::string processes_text() { return {}; }

  // Graph capture, for graph_capture_record_stream_reuse: the nodes that new work of the stream would depend
  // on; nothing if the stream is not capturing.
  [[nodiscard]] virtual std::optional<std::vector<uint64_t>> capture_terminals(int64_t stream) {
    (void)stream;
    return std::nullopt;
  }
  // Do all terminals of the graph that `stream` captures depend on all these nodes?
  [[nodiscard]] virtual bool all_terminals_follow(int64_t stream, const std::vector<uint64_t>& nodes) {
    (void)stream, (void)nodes;
    return false;
  }
};

// Memory of a private pool that brings its own allocator (torch.cuda.memory.CUDAPluggableAllocator): whole
// segments only. The shape of its C functions is alloc(size, device, stream), free(ptr, size, device,
// stream).
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // 0 = out of memory.
  [[nodiscard]] virtual uint64_t allocate(int64_t bytes, int device, int64_t stream) = 0;
  virtual void free(uint64_t address, int64_t bytes, int device, int64_t stream) = 0;
};

}  // namespace gpustrata::alloc
