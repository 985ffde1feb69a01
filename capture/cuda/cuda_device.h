// Device memory from the CUDA driver.
//
// Whole segments come from cuMemAlloc (what cudaMalloc does), expandable segments from the virtual memory
// calls: an address range, one physical handle per page, access for this device and its peers. Every call
// makes the device's primary context current and restores what was; calls that would break a running graph
// capture are made in relaxed mode.
//
// Not thread-safe: called under the lock of the device's allocator. Failures of giving back are told to
// stderr once and ignored: the memory is lost, the program goes on. While the process ends and the driver is
// gone they are not told.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "capture/cuda/driver_api.h"
#include "engine/alloc/device_memory.h"
#include "engine/base/status.h"

namespace gpustrata::capture::cuda {

class CudaDevice final : public alloc::DeviceMemory {
 public:
  // Retains the primary context, for the life of the process. `ordinal` counts as cudaSetDevice does.
  [[nodiscard]] static Result<std::unique_ptr<CudaDevice>> open(const DriverApi& api, int ordinal);

  // Page sizes must be multiples of this; 0 = no virtual memory here.
  [[nodiscard]] int64_t granularity() const { return granularity_; }
  // Device `ordinal` may read and write the expandable segments of this one, present and future.
  [[nodiscard]] Status add_peer(int ordinal);
  // The same for every device that the driver allows it for, as PyTorch's copies between devices expect; the others.
  [[nodiscard]] std::vector<int> add_all_peers();

  [[nodiscard]] alloc::DeviceMemoryInfo info() override;
  [[nodiscard]] alloc::DeviceResult<uint64_t> allocate(int64_t bytes) override;
  void free(uint64_t address, int64_t bytes) override;

  [[nodiscard]] alloc::DeviceResult<uint64_t> reserve(int64_t bytes) override;
  void release(uint64_t address, int64_t bytes) override;
  [[nodiscard]] alloc::DeviceResult<void> map(uint64_t address, int64_t bytes, int64_t page_bytes) override;
  void unmap(uint64_t address, int64_t bytes, int64_t page_bytes) override;

  [[nodiscard]] alloc::DeviceResult<alloc::EventHandle> record_event(int64_t stream) override;
  [[nodiscard]] bool is_finished(alloc::EventHandle event) override;
  void wait(alloc::EventHandle event) override;
  void release_event(alloc::EventHandle event) override;
  void wait_for_stream(int64_t stream) override;

 private:
  class Context;  // current while it lives
  struct Page {
    CuMemHandle handle = 0;
    int64_t bytes = 0;
  };

  // An event is recorded on streams of its own context only: memory that is used on a stream of another device waits for
  // an event of that device.
  struct Event {
    CuEvent event = nullptr;
    CuContext context = nullptr;
    CuStream stream = nullptr;  // where it was recorded last
  };

  CudaDevice(const DriverApi& api, int ordinal) : api_(api), ordinal_(ordinal) {}
  [[nodiscard]] CuContext context_of(CuStream stream) const;
  [[nodiscard]] std::vector<alloc::EventHandle>& idle_events_of(CuContext context) {
    return context == context_ ? idle_events_ : idle_elsewhere_[context];
  }
  [[nodiscard]] CuMemAllocationProp properties() const;
  [[nodiscard]] CuResult set_access(uint64_t address, int64_t bytes) const;
  void unmap_page(uint64_t address, const Page& page) const;
  // A failure that nobody can act on.
  void tell(const char* call, CuResult error) const;
  [[nodiscard]] alloc::DeviceFailure failure(const char* call, CuResult error) const;

  const DriverApi& api_;
  int ordinal_;
  CuContext context_ = nullptr;
  int64_t granularity_ = 0;
  bool rdma_ = false;
  std::vector<int> peers_;
  std::map<uint64_t, Page> pages_;               // mapped ones, by address
  std::vector<Event> events_;                    // by EventHandle
  std::vector<alloc::EventHandle> idle_events_;  // in this device's context
  std::map<CuContext, std::vector<alloc::EventHandle>> idle_elsewhere_;
};

}  // namespace gpustrata::capture::cuda
