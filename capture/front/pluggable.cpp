// What PyTorch's CUDAPluggableAllocator calls: alloc, free and every optional hook of its binary interface.
//
// PyTorch does not look at a null result: gpustrata_alloc() tells stderr once, and the tensor has no memory.
// gpustrata_alloc_or_throw() throws instead. PyTorch calls it where its own allocator would throw, under no
// lock, and turns what derives from std::exception into Python's RuntimeError (torch/csrc/Exceptions.h). So may
// the hook that begins a pool, which PyTorch calls before a capture begins: else a graph's memory would be anybody's.
// The one that releases a pool is called in destructors and stays silent. Of the others stderr tells once.
#include <functional>
#include <stdexcept>
#include <utility>

#include "capture/front/caching_allocator.h"
#include "capture/front/guarded.h"
#include "capture/front/report.h"
#include "capture/front/second_copy.h"
#include "capture/gpustrata.h"
#include "capture/pointers.h"

using namespace gpustrata;
using namespace gpustrata::capture;

void* gpustrata_alloc(size_t size, int device, void* stream) {
  return guarded_value(static_cast<void*>(nullptr), [&]() -> void* {
    const auto address = CachingAllocator::instance().malloc(size, device, handle_of(stream));
    if (address) return pointer_of(*address);
    report(address.error().message);
    return nullptr;
  });
}

void* gpustrata_alloc_or_throw(size_t size, int device, void* stream) {
  const auto address = CachingAllocator::instance().malloc(size, device, handle_of(stream));
  if (!address) {
    set_last_error(address.error().message);
    throw std::runtime_error(address.error().message);
  }
  return pointer_of(*address);
}

// Called by PyTorch under its own lock, while another thread may hold Python's and wait for that one.
void* gpustrata_mempool_alloc(size_t size, int device, void* stream) {
  const WithoutPython no_lock;
  return gpustrata_alloc(size, device, stream);
}
void gpustrata_mempool_free(void* pointer, size_t size, int device, void* stream) {
  const WithoutPython no_lock;
  gpustrata_free(pointer, size, device, stream);
}

// A worker that was forked drops its copies of the parent's tensors.
void gpustrata_free(void* pointer, size_t, int device, void*) {
  if (CachingAllocator::in_forked_child()) return;
  guarded_report([&] { return CachingAllocator::instance().free(address_of(pointer), device); });
}

void gpustrata_hook_init(int) {
  guarded_report([] {
    warn_of_second_copy();
    return CachingAllocator::instance().open();
  });
}
void gpustrata_hook_reset() {
  guarded_report([] { return CachingAllocator::instance().empty_cache(); });
}
void gpustrata_hook_memory_fraction(double fraction, int device) {
  guarded_report([&] { return CachingAllocator::instance().set_memory_fraction(fraction, device); });
}
// Without an answer (an expandable segment) the pointer itself, as PyTorch does without the hook.
void* gpustrata_hook_base_alloc(void* pointer, size_t* size) {
  void* base = pointer;
  if (gpustrata_base_allocation(pointer, &base, size) != GPUSTRATA_OK) report(last_error());
  return base;
}
// Memory that is not this allocator's is ignored, as by PyTorch's own.
void gpustrata_hook_record_stream(void* pointer, void* stream) {
  (void)gpustrata_use_on_stream(pointer, stream);
}

// The pool hooks have C++ types: c10::MempoolId_t is a pair of unsigned 64-bit numbers, and the filter, which
// PyTorch calls with a stream, says whether a request goes to the pool. PyTorch must be built with libstdc++.
using MempoolId = std::pair<unsigned long long, unsigned long long>;
using StreamFilter = std::function<bool(void*)>;

[[nodiscard]] static trace::PoolKey key_of(const MempoolId& id) {
  return {static_cast<int64_t>(id.first), static_cast<int64_t>(id.second)};
}

extern "C" {

GPUSTRATA_API void gpustrata_hook_begin_allocate_to_pool(int device, MempoolId pool, StreamFilter filter) {
  alloc::DeviceAllocator::StreamFilter accepts;
  if (filter) accepts = [filter = std::move(filter)](int64_t stream) { return filter(stream_of(stream)); };
  const Status begun =
      CachingAllocator::instance().begin_allocate_to_pool(device, key_of(pool), std::move(accepts));
  if (begun) return;
  set_last_error(begun.error().message);
  throw std::runtime_error(begun.error().message);
}
GPUSTRATA_API void gpustrata_hook_end_allocate_to_pool(int device, MempoolId pool) {
  guarded_report([&] { return CachingAllocator::instance().end_allocate_to_pool(device, key_of(pool)); });
}
GPUSTRATA_API void gpustrata_hook_release_pool(int device, MempoolId pool) {
  try {
    if (const Status released = CachingAllocator::instance().release_pool(device, key_of(pool)); !released)
      set_last_error(released.error().message);
  } catch (const std::exception& error) {
    set_last_error(error.what());
  }
}

}  // extern "C"
