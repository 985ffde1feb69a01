#include "engine/model/allocator_rows.h"

namespace gpustrata::model {

namespace {

[[nodiscard]] BlockState state_of(alloc::BlockState state) {
  switch (state) {
    case alloc::BlockState::active_allocated:
      return BlockState::active_allocated;
    case alloc::BlockState::active_pending_free:
      return BlockState::active_pending_free;
    case alloc::BlockState::inactive:
      break;
  }
  return BlockState::inactive;
}

}  // namespace

bool AllocatorRows::append_event(const trace::TraceEvent& event) {
  return recording_.events.append({.action = event.action,
                                   .address = event.address,
                                   .size = event.size,
                                   .time = event.time_us,
                                   .stack = event.stack,
                                   .context = event.context,
                                   .metadata = event.metadata,
                                   .stream = stream(event.stream),
                                   .pool = pool(event.pool)});
}

bool AllocatorRows::append_segments(const alloc::DeviceAllocator& allocator,
                                    std::optional<trace::PoolKey> pool) {
  const alloc::MemoryState& state = allocator.state();
  for (const alloc::SegmentId id : state.segments()) {
    const alloc::Segment& segment = state.segment(id);
    if (pool && !(segment.pool == *pool)) continue;
    for (alloc::BlockId at = segment.first; !at.is_none();) {
      if (!state.block(at).mapped) {
        at = state.block(at).next;
      } else if (!append_mapped_range(allocator.ordinal(), state, segment, at)) {
        return false;
      }
    }
  }
  return true;
}

StreamId AllocatorRows::stream(int64_t handle) {
  return last_stream_(handle, [&](int64_t key) { return recording_.stream_of(key); });
}

PoolId AllocatorRows::pool(const trace::PoolKey& pool) {
  return last_pool_(pool, [&](const trace::PoolKey& key) { return recording_.pool_of(key); });
}

// PyTorch lists no stack as an empty one here.
StackId AllocatorRows::stack_or_empty(StackId stack) {
  if (!stack.is_none()) return stack;
  if (empty_.is_none()) empty_ = recording_.stacks.intern({});
  return empty_;
}

// The blocks from `at` to the next unmapped one; `at` becomes that.
bool AllocatorRows::append_mapped_range(int device, const alloc::MemoryState& state,
                                        const alloc::Segment& segment, alloc::BlockId& at) {
  BlockTable& blocks = recording_.blocks;
  const auto first = static_cast<int32_t>(blocks.size_rows());
  const uint64_t address = state.block(at).address;
  int64_t total = 0, allocated = 0, active = 0, requested = 0;
  int32_t count = 0;
  for (; !at.is_none() && state.block(at).mapped; at = state.block(at).next, ++count) {
    const alloc::Block& block = state.block(at);
    total += block.size;
    if (block.state == alloc::BlockState::active_allocated) allocated += block.size;
    if (block.is_active()) {
      active += block.size;
      requested += block.requested_size;
    }
    const StackId stack = stack_or_empty(block.is_active() ? block.stack : StackId());
    if (stack.is_none() || !blocks.append({.address = block.address,
                                           .size = block.size,
                                           .requested_size = block.requested_size,
                                           .state = state_of(block.state),
                                           .stack = stack})) {
      return false;
    }
  }
  const StackId stack = stack_or_empty(segment.stack);
  return !stack.is_none() &&
         recording_.segments.append({.device = device,
                                     .address = address,
                                     .total_size = total,
                                     .allocated_size = allocated,
                                     .active_size = active,
                                     .requested_size = requested,
                                     .stream = stream(segment.stream),
                                     .pool = pool(segment.pool),
                                     .type = segment.small ? SegmentType::small : SegmentType::large,
                                     .expandable = segment.expandable ? Tristate::yes : Tristate::no,
                                     .stack = stack,
                                     .blocks = {first, count}});
}

}  // namespace gpustrata::model
