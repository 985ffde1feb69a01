#include "capture/cuda/cuda_device.h"

#include "capture/cuda/current_context.h"
#include "capture/front/report.h"
#include "capture/pointers.h"

namespace gpustrata::capture::cuda {

using alloc::DeviceFailure;
using alloc::DeviceMemoryInfo;
using alloc::DeviceResult;
using alloc::EventHandle;

namespace {
constexpr uintptr_t kLastStreamByName = 2;  // CU_STREAM_LEGACY is 1, CU_STREAM_PER_THREAD is 2
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(const DriverApi& api, int ordinal) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(api, ordinal));
  const auto refused = [&](const char* call, CuResult error) {
    return fail(ErrorCode::device_error, -1, "device {} cannot be used: {} says {}", ordinal, call,
                api.text_of(error));
  };
  CuDevice handle = 0;
  if (const CuResult error = api.device_get(&handle, ordinal); error != kSuccess)
    return refused("cuDeviceGet", error);
  if (const CuResult error = api.device_primary_context_retain(&device->context_, handle); error != kSuccess)
    return refused("cuDevicePrimaryCtxRetain", error);
  int supported = 0;
  if (api.has_virtual_memory &&
      api.device_get_attribute(&supported, kAttributeVirtualMemory, handle) == kSuccess && supported != 0) {
    int rdma = 0;
    device->rdma_ =
        api.device_get_attribute(&rdma, kAttributeRdmaOfVirtualMemory, handle) == kSuccess && rdma != 0;
    const CuMemAllocationProp wanted = device->properties();
    size_t granularity = 0;
    if (api.mem_get_allocation_granularity(&granularity, &wanted, kGranularityMinimum) == kSuccess)
      device->granularity_ = static_cast<int64_t>(granularity);
  }
  return device;
}

void CudaDevice::tell(const char* call, CuResult error) const {
  if (error == kSuccess || error == kDeinitialized) return;
  report(fmt::format("device {}: {} says {}", ordinal_, call, api_.text_of(error)));
}

DeviceFailure CudaDevice::failure(const char* call, CuResult error) const {
  return {error == kOutOfMemory, fmt::format("{} on device {} says {}", call, ordinal_, api_.text_of(error))};
}

DeviceMemoryInfo CudaDevice::info() {
  const Context context(*this);
  size_t free_bytes = 0, total_bytes = 0;
  tell("cuMemGetInfo", api_.mem_get_info(&free_bytes, &total_bytes));
  return {static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
}

DeviceResult<uint64_t> CudaDevice::allocate(int64_t bytes) {
  const Context context(*this);
  CuDevicePtr address = 0;
  const CuResult error = api_.mem_alloc(&address, static_cast<size_t>(bytes));
  if (error != kSuccess) return tl::unexpected(failure("cuMemAlloc", error));
  return address;
}

void CudaDevice::free(uint64_t address, int64_t bytes) {
  (void)bytes;
  const Context context(*this);
  tell("cuMemFree", api_.mem_free(address));
}

// --- Events
// --------------------------------------------------------------------------------------------------

CuContext CudaDevice::context_of(CuStream stream) const {
  // The default streams are those of whatever context is current.
  if (reinterpret_cast<uintptr_t>(stream) <= kLastStreamByName) return context_;
  const Context context(*this);
  CuContext found = nullptr;
  return api_.stream_get_context(stream, &found) == kSuccess && found != nullptr ? found : context_;
}

DeviceResult<EventHandle> CudaDevice::record_event(int64_t stream) {
  const auto on = static_cast<CuStream>(stream_of(stream));
  const CuContext of_stream = context_of(on);
  const Context context(*this, of_stream);
  std::vector<EventHandle>& idle = idle_events_of(of_stream);
  if (idle.empty()) {
    CuEvent made = nullptr;
    const CuResult error = api_.event_create(&made, kEventDisableTiming);
    if (error != kSuccess) return tl::unexpected(failure("cuEventCreate", error));
    idle.push_back(static_cast<EventHandle>(events_.size()));
    events_.push_back({made, of_stream, nullptr});
  }
  const EventHandle handle = idle.back();
  Event& event = events_[static_cast<size_t>(handle)];
  event.stream = on;
  const CuResult error = api_.event_record(event.event, on);
  if (error != kSuccess) return tl::unexpected(failure("cuEventRecord", error));
  idle.pop_back();
  return handle;
}

bool CudaDevice::is_finished(EventHandle handle) {
  const Event& event = events_[static_cast<size_t>(handle)];
  const Context context(*this, event.context);
  const CuResult result = api_.event_query(event.event);
  if (result == kSuccess || result == kNotReady) return result == kSuccess;
  if (result == kCapturedEvent) {
    // Somebody captures a graph that PyTorch did not begin. Such an event never ends: when the capture is over, the
    // end of what the stream does then counts.
    int status = kCaptureNone;
    if (api_.stream_is_capturing(event.stream, &status) == kSuccess && status == kCaptureNone)
      tell("cuEventRecord", api_.event_record(event.event, event.stream));
    return false;
  }
  tell("cuEventQuery", result);
  // A dead context uses no memory any more, and waiting on would only grow. Any other error says nothing
  // about the stream: its memory may still be in use.
  return is_end_of_context(result);
}

void CudaDevice::wait(EventHandle handle) {
  const Event& event = events_[static_cast<size_t>(handle)];
  const Context context(*this, event.context);
  tell("cuEventSynchronize", api_.event_synchronize(event.event));
}

void CudaDevice::release_event(EventHandle event) {
  idle_events_of(events_[static_cast<size_t>(event)].context).push_back(event);
}

void CudaDevice::wait_for_stream(int64_t stream) {
  const auto on = static_cast<CuStream>(stream_of(stream));
  const Context context(*this, context_of(on));
  tell("cuStreamSynchronize", api_.stream_synchronize(on));
}

}  // namespace gpustrata::capture::cuda
