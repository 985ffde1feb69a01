// gpustrata.h for an allocator class of PyTorch's own: pools, checkpoints, captures, what is cached.
#include <algorithm>
#include <memory>

#include "capture/front/caching_allocator.h"
#include "capture/front/guarded.h"
#include "capture/front/report.h"
#include "capture/gpustrata.h"
#include "capture/pointers.h"

using namespace gpustrata;
using namespace gpustrata::capture;

struct gpustrata_checkpoint {
  alloc::PoolCheckpoint saved;
};

namespace gpustrata::capture {
namespace {

using alloc::DeviceAllocator;

[[nodiscard]] trace::PoolKey pool_key(gpustrata_pool pool) {
  return {static_cast<int64_t>(pool.graph_id), static_cast<int64_t>(pool.user_id)};
}

template <typename Action>
[[nodiscard]] gpustrata_status on(int device, Action&& action) {
  return guarded(
      [&] { return CachingAllocator::instance().with_allocator(device, std::forward<Action>(action)); });
}

}  // namespace
}  // namespace gpustrata::capture

gpustrata_status gpustrata_pool_retain(int device, gpustrata_pool pool) {
  return on(device, [&](DeviceAllocator& own) { return own.create_or_increment_pool(pool_key(pool)); });
}
int gpustrata_pool_users(int device, gpustrata_pool pool) {
  int users = -1;
  (void)on(device, [&](DeviceAllocator& own) {
    users = own.pool_use_count(pool_key(pool));
    return Status();
  });
  return users;
}
gpustrata_status gpustrata_pool_use_on_oom(int device, gpustrata_pool pool, int use) {
  return on(device, [&](DeviceAllocator& own) { return own.set_use_on_oom(pool_key(pool), use != 0); });
}
gpustrata_status gpustrata_pool_no_split(int device, gpustrata_pool pool) {
  return on(device, [&](DeviceAllocator& own) { return own.set_no_split(pool_key(pool)); });
}
gpustrata_status gpustrata_pool_empty(int device, gpustrata_pool pool) {
  return on(device, [&](DeviceAllocator& own) {
    own.empty_cache(pool_key(pool));
    return Status();
  });
}

gpustrata_status gpustrata_capture_begin(int device) {
  return on(device, [](DeviceAllocator& own) {
    own.begin_capture();
    return Status();
  });
}
gpustrata_status gpustrata_capture_end(int device) {
  return on(device, [](DeviceAllocator& own) { return own.end_capture(); });
}
gpustrata_status gpustrata_put_off_by_captures_only(int device, int (*is_captured)(int device)) {
  return on(device, [&](DeviceAllocator& own) {
    own.set_defer(DeviceAllocator::Defer::while_capturing);
    own.set_is_captured({});
    if (is_captured != nullptr) own.set_is_captured([=] { return is_captured(device) != 0; });
    return Status();
  });
}

gpustrata_status gpustrata_pool_allocations(int device, gpustrata_pool pool, void** pointers, size_t capacity,
                                            size_t* count) {
  if (count == nullptr || (pointers == nullptr && capacity > 0))
    return refused("gpustrata_pool_allocations() needs places for pointers and their number");
  *count = 0;
  return on(device, [&](DeviceAllocator& own) -> Status {
    const auto live = own.pool_allocations(pool_key(pool));
    if (!live) return tl::unexpected(live.error());
    *count = live->size();
    for (size_t i = 0; i < std::min(capacity, live->size()); ++i) pointers[i] = pointer_of((*live)[i]);
    return {};
  });
}

gpustrata_status gpustrata_pool_checkpoint(int device, gpustrata_pool pool,
                                           gpustrata_checkpoint** checkpoint) {
  if (checkpoint == nullptr) return refused("gpustrata_pool_checkpoint() needs a place for the checkpoint");
  *checkpoint = nullptr;
  return on(device, [&](DeviceAllocator& own) -> Status {
    auto saved = own.checkpoint(pool_key(pool));
    if (!saved) return tl::unexpected(saved.error());
    *checkpoint = std::make_unique<gpustrata_checkpoint>(gpustrata_checkpoint{std::move(*saved)}).release();
    return {};
  });
}
gpustrata_status gpustrata_pool_restore(int device, const gpustrata_checkpoint* checkpoint) {
  if (checkpoint == nullptr) return refused("gpustrata_pool_restore() needs a checkpoint");
  return on(device, [&](DeviceAllocator& own) { return own.restore(checkpoint->saved); });
}
void gpustrata_free_checkpoint(gpustrata_checkpoint* checkpoint) {
  const std::unique_ptr<gpustrata_checkpoint> owner(checkpoint);
}
gpustrata_pool gpustrata_checkpoint_pool(const gpustrata_checkpoint* checkpoint) {
  return {static_cast<uint64_t>(checkpoint->saved.pool.graph_id),
          static_cast<uint64_t>(checkpoint->saved.pool.user_id)};
}

gpustrata_status gpustrata_largest_cached_block(int device, size_t* bytes) {
  if (bytes == nullptr) return refused("gpustrata_largest_cached_block() needs a place for the number");
  *bytes = 0;
  return on(device, [&](DeviceAllocator& own) {
    *bytes = static_cast<size_t>(own.largest_cached_block());
    return Status();
  });
}
gpustrata_status gpustrata_memory_usage(int device, int64_t* allocated, int64_t* reserved) {
  return guarded([&]() -> Status {
    const auto stats = CachingAllocator::instance().stats(device);
    if (!stats) return tl::unexpected(stats.error());
    if (allocated != nullptr) *allocated = stats->allocated_bytes.all().current;
    if (reserved != nullptr) *reserved = stats->reserved_bytes.all().current;
    return {};
  });
}
size_t gpustrata_block_size(void* pointer) {
  return guarded_value(size_t{0}, [&] {
    return static_cast<size_t>(CachingAllocator::instance().block_size(address_of(pointer)));
  });
}
int gpustrata_is_recording() {
  return guarded_value(0, [] { return CachingAllocator::instance().is_recording() ? 1 : 0; });
}
