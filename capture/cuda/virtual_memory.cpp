// Expandable segments: address space first, physical pages as they are needed (cuMemCreate and cuMemMap).
#include <algorithm>
#include <utility>

#include "capture/cuda/cuda_device.h"
#include "capture/cuda/current_context.h"
#include "capture/front/report.h"

namespace gpustrata::capture::cuda {

using alloc::DeviceFailure;
using alloc::DeviceResult;

// Pages are not exported to other processes: no handle type is asked for.
CuMemAllocationProp CudaDevice::properties() const {
  CuMemAllocationProp wanted{};
  wanted.type = kAllocationPinned;
  wanted.location = {kLocationDevice, ordinal_};
  wanted.alloc_flags.gpu_direct_rdma_capable = rdma_ ? 1 : 0;
  return wanted;
}

DeviceResult<uint64_t> CudaDevice::reserve(int64_t bytes) {
  if (granularity_ == 0)
    return tl::unexpected(DeviceFailure{
        false,
        fmt::format(
            "device {} or its driver has no virtual memory management, which expandable_segments needs",
            ordinal_)});
  CuDevicePtr address = 0;
  const CuResult error = api_.mem_address_reserve(&address, static_cast<size_t>(bytes), 0, 0, 0);
  if (error != kSuccess) return tl::unexpected(failure("cuMemAddressReserve", error));
  return address;
}

void CudaDevice::release(uint64_t address, int64_t bytes) {
  tell("cuMemAddressFree", api_.mem_address_free(address, static_cast<size_t>(bytes)));
}

CuResult CudaDevice::set_access(uint64_t address, int64_t bytes) const {
  std::vector<CuMemAccessDesc> access{{{kLocationDevice, ordinal_}, kAccessReadWrite}};
  for (const int peer : peers_) access.push_back({{kLocationDevice, peer}, kAccessReadWrite});
  return api_.mem_set_access(address, static_cast<size_t>(bytes), access.data(), access.size());
}

DeviceResult<void> CudaDevice::map(uint64_t address, int64_t bytes, int64_t page_bytes) {
  if (page_bytes % granularity_ != 0)
    return tl::unexpected(DeviceFailure{
        false,
        fmt::format(
            "pages of {} bytes cannot be mapped on device {}: large_segment_size_mb must be a multiple of {} MiB",
            page_bytes, ordinal_, granularity_ >> 20)});
  const Context context(*this);
  const CuMemAllocationProp wanted = properties();
  const auto pages = static_cast<size_t>(bytes / page_bytes);
  const auto page_size = static_cast<size_t>(page_bytes);
  std::vector<CuMemHandle> handles;
  handles.reserve(pages);
  const char* call = "cuMemCreate";
  CuResult error = kSuccess;
  while (handles.size() < pages) {
    CuMemHandle handle = 0;
    error = api_.mem_create(&handle, page_size, &wanted, 0);
    if (error != kSuccess) break;
    handles.push_back(handle);
  }
  size_t mapped = 0;
  if (error == kSuccess) {
    call = "cuMemMap";
    for (; mapped < pages && error == kSuccess; ++mapped)
      error = api_.mem_map(address + mapped * page_size, page_size, 0, handles[mapped], 0);
    if (error != kSuccess) --mapped;
  }
  if (error == kSuccess) {
    call = "cuMemSetAccess";
    error = set_access(address, bytes);
  }
  if (error != kSuccess) {
    for (size_t i = 0; i < mapped; ++i)
      tell("cuMemUnmap", api_.mem_unmap(address + i * page_size, page_size));
    for (const CuMemHandle handle : handles) tell("cuMemRelease", api_.mem_release(handle));
    return tl::unexpected(failure(call, error));
  }
  for (size_t i = 0; i < pages; ++i) pages_[address + i * page_size] = {handles[i], page_bytes};
  return {};
}

void CudaDevice::unmap_page(uint64_t address, const Page& page) const {
  tell("cuMemUnmap", api_.mem_unmap(address, static_cast<size_t>(page.bytes)));
  tell("cuMemRelease", api_.mem_release(page.handle));
}

void CudaDevice::unmap(uint64_t address, int64_t bytes, int64_t page_bytes) {
  (void)page_bytes;
  const Context context(*this);
  const uint64_t end = address + static_cast<uint64_t>(bytes);
  auto page = pages_.lower_bound(address);
  while (page != pages_.end() && page->first < end) {
    unmap_page(page->first, page->second);
    page = pages_.erase(page);
  }
}

std::vector<int> CudaDevice::add_all_peers() {
  std::vector<int> unreachable;
  CuDevice own = 0;
  if (granularity_ == 0 || api_.device_get(&own, ordinal_) != kSuccess) return unreachable;
  for (int other = 0; other < api_.devices; ++other) {
    if (other == ordinal_) continue;
    CuDevice peer = 0;
    int can = 0;
    const bool allowed = api_.device_get(&peer, other) == kSuccess &&
                         api_.device_can_access_peer(&can, peer, own) == kSuccess && can != 0;
    if (!allowed || !add_peer(other)) unreachable.push_back(other);
  }
  return unreachable;
}

Status CudaDevice::add_peer(int ordinal) {
  if (ordinal == ordinal_ || std::find(peers_.begin(), peers_.end(), ordinal) != peers_.end()) return {};
  peers_.push_back(ordinal);
  const Context context(*this);
  for (const auto& [address, page] : pages_) {
    const CuResult error = set_access(address, page.bytes);
    if (error == kSuccess) continue;
    peers_.pop_back();
    return fail(ErrorCode::device_error, -1,
                "device {} cannot use memory of device {}: cuMemSetAccess says {}", ordinal, ordinal_,
                api_.text_of(error));
  }
  return {};
}

}  // namespace gpustrata::capture::cuda
