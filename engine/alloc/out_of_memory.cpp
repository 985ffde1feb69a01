// What is said when no way led to memory.
#include <fmt/core.h>

#include <algorithm>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

std::string oom_size_text(int64_t bytes) {
  constexpr int64_t kKiB = 1024, kGiB = int64_t{1} << 30;
  const auto value = static_cast<double>(bytes);
  if (bytes <= kKiB) return fmt::format("{} bytes", bytes);
  if (bytes <= kMiB) return fmt::format("{:.2f} KiB", value / kKiB);
  if (bytes <= kGiB) return fmt::format("{:.2f} MiB", value / static_cast<double>(kMiB));
  return fmt::format("{:.2f} GiB", value / static_cast<double>(kGiB));
}

namespace {

// The facts of PyTorch's message in its order; the first words are what programs look for.
[[nodiscard]] std::string text_of(const OutOfMemory& oom, int ordinal, const std::string& processes) {
  std::string text = fmt::format("CUDA out of memory. Tried to allocate {}. GPU {}: {} in total, {} free. {}",
                                 oom_size_text(oom.segment_bytes), ordinal, oom_size_text(oom.device_total),
                                 oom_size_text(oom.device_free), processes);
  if (oom.rejected) text += "The request was rejected before the device was asked. ";
  if (oom.allowed_bytes >= 0) text += fmt::format("{} allowed; ", oom_size_text(oom.allowed_bytes));
  text += fmt::format("{} allocated", oom_size_text(oom.allocated_bytes));
  if (oom.private_pool_bytes > 0)
    text += fmt::format(" (of it {} free in private pools, e.g. of CUDA graphs)",
                        oom_size_text(oom.private_pool_bytes));
  text += fmt::format(
      ", {} reserved but unallocated. If that is much, expandable_segments:True in "
      "PYTORCH_CUDA_ALLOC_CONF avoids fragmentation.",
      oom_size_text(oom.unallocated_bytes));
  return text + " See https://pytorch.org/docs/stable/notes/cuda.html#environment-variables";
}

}  // namespace

Error DeviceAllocator::out_of_memory(const Request& request, bool rejected) {
  const DeviceMemoryInfo info = device_.info();
  MemoryStats& stats = state_.stats();
  OutOfMemory oom;
  oom.requested_bytes = request.requested;
  oom.rounded_bytes = std::max(request.rounded, std::min(request.requested, kLargestRequest));
  oom.segment_bytes = std::max(request.segment_bytes, request.requested);
  oom.device_total = info.total_bytes;
  oom.device_free = info.free_bytes;
  oom.allowed_bytes = allowed_;
  oom.rejected = rejected;
  for (const auto& pool : pools_) {
    if (!pool->is_default()) oom.private_pool_bytes += pool->small.bytes() + pool->large.bytes();
  }
  oom.allocated_bytes = stats.allocated_bytes.all().current + oom.private_pool_bytes;
  oom.unallocated_bytes = stats.reserved_bytes.all().current - oom.allocated_bytes;

  if (rejected) {
    ++stats.num_oom_rejections;
  } else {
    Segment nowhere;
    nowhere.stream = request.stream;
    nowhere.pool = request.pool->key;
    tell(trace::Action::oom, static_cast<uint64_t>(info.free_bytes), request.rounded, nowhere,
         request.origin.stack, request.origin.metadata);
    ++stats.num_ooms;
  }
  oom.text = text_of(oom, ordinal_, device_.processes_text());
  if (expandable_request_too_large(request))
    oom.text += " No segment can hold the request: expandable_segments_reserve is too small.";
  last_oom_ = std::move(oom);
  for (const OomObserver& observer : oom_observers_) observer(last_oom_);
  return {ErrorCode::out_of_memory, last_oom_.text, -1};
}

}  // namespace gpustrata::alloc
