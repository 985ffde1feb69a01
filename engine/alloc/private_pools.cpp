// Pools of MemPool objects and CUDA graphs: their life, the routing of requests, checkpoints.
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

namespace {

[[nodiscard]] tl::unexpected<Error> no_such_pool(PoolKey key) {
  return fail(ErrorCode::wrong_usage, -1, "there is no pool ({}, {})", key.graph_id, key.user_id);
}

}  // namespace

BlockPool* DeviceAllocator::find_pool(PoolKey key) const {
  const auto found = pool_of_key_.find(key);
  return found == pool_of_key_.end() ? nullptr : found->second;
}

BlockPool& DeviceAllocator::add_pool(PoolKey key) {
  pools_.push_back(std::make_unique<BlockPool>(key, state_));
  pool_of_key_.emplace(key, pools_.back().get());
  return *pools_.back();
}

Result<BlockPool*> DeviceAllocator::existing_pool(PoolKey key) const {
  if (key == PoolKey{})
    return fail(ErrorCode::wrong_usage, -1, "(0, 0) is the default pool, not a private one");
  BlockPool* pool = find_pool(key);
  if (pool == nullptr) return no_such_pool(key);
  if (pool->use_count == 0)
    return fail(ErrorCode::wrong_usage, -1, "pool ({}, {}) was released", key.graph_id, key.user_id);
  return pool;
}

Status DeviceAllocator::create_or_increment_pool(PoolKey key, SegmentSource* source) {
  if (key != PoolKey{} && find_pool(key) == nullptr) {
    add_pool(key).source = source;
    return {};
  }
  const auto pool = existing_pool(key);
  if (!pool) return tl::unexpected(pool.error());
  if (source != nullptr && (*pool)->source != source)
    return fail(ErrorCode::wrong_usage, -1, "pool ({}, {}) has another allocator already", key.graph_id,
                key.user_id);
  ++(*pool)->use_count;
  return {};
}

Status DeviceAllocator::begin_allocate_to_pool(PoolKey key, StreamFilter accepts) {
  for (const Routing& routing : routings_) {
    if (routing.pool->key == key)
      return fail(ErrorCode::wrong_usage, -1, "requests go to pool ({}, {}) already: end that first",
                  key.graph_id, key.user_id);
  }
  if (auto status = create_or_increment_pool(key); !status) return status;
  routings_.push_back({find_pool(key), std::move(accepts)});
  return {};
}

Status DeviceAllocator::end_allocate_to_pool(PoolKey key) {
  const auto at = std::find_if(routings_.begin(), routings_.end(),
                               [&](const Routing& routing) { return routing.pool->key == key; });
  if (at == routings_.end())
    return fail(ErrorCode::wrong_usage, -1, "requests do not go to pool ({}, {})", key.graph_id, key.user_id);
  routings_.erase(at);
  return {};
}

Status DeviceAllocator::end_capture() {
  if (captures_ == 0) return fail(ErrorCode::wrong_usage, -1, "no graph is being captured");
  --captures_;
  return {};
}

Status DeviceAllocator::release_pool(PoolKey key) {
  const auto pool = existing_pool(key);
  if (!pool) return tl::unexpected(pool.error());
  const bool routed = std::any_of(routings_.begin(), routings_.end(),
                                  [&](const Routing& routing) { return routing.pool == *pool; });
  if (routed && (*pool)->use_count == 1)
    return fail(ErrorCode::wrong_usage, -1, "requests still go to pool ({}, {}): end that first",
                key.graph_id, key.user_id);
  --(*pool)->use_count;
  return {};
}

Status DeviceAllocator::set_use_on_oom(PoolKey key, bool use) {
  const auto pool = existing_pool(key);
  if (!pool) return tl::unexpected(pool.error());
  (*pool)->use_on_oom = use;
  return {};
}

Status DeviceAllocator::set_no_split(PoolKey key) {
  const auto pool = existing_pool(key);
  if (!pool) return tl::unexpected(pool.error());
  (*pool)->no_split = true;
  return {};
}

int DeviceAllocator::pool_use_count(PoolKey key) const {
  const BlockPool* pool = find_pool(key);
  return pool == nullptr || pool->is_default() ? 0 : pool->use_count;
}

// --- Checkpoints -------------------------------------------------------------------------------------------

Result<std::vector<uint64_t>> DeviceAllocator::pool_allocations(PoolKey key) const {
  const BlockPool* pool = find_pool(key);
  if (pool == nullptr || pool->is_default()) return no_such_pool(key);
  std::vector<uint64_t> live;
  for (const SegmentId id : state_.segments()) {
    if (owners_[id.index()].pool != pool) continue;
    for (BlockId i = state_.segment(id).first; !i.is_none(); i = state_.block(i).next) {
      if (state_.block(i).state == BlockState::active_allocated) live.push_back(state_.block(i).address);
    }
  }
  std::sort(live.begin(), live.end());
  return live;
}

int64_t DeviceAllocator::largest_cached_block() const {
  int64_t largest = 0;
  for (const auto& pool : pools_) {
    for (const BlockSet* set : {&pool->small, &pool->large})
      set->for_each([&](BlockId id) { largest = std::max(largest, state_.block(id).size); });
  }
  return largest;
}

Result<PoolCheckpoint> DeviceAllocator::checkpoint(PoolKey key) const {
  const BlockPool* pool = find_pool(key);
  if (pool == nullptr || pool->is_default()) return no_such_pool(key);
  PoolCheckpoint saved{key, {}};
  for (const SegmentId id : state_.segments()) {
    if (owners_[id.index()].pool != pool) continue;
    CheckpointSegment segment{state_.segment(id).address, {}};
    for (BlockId i = state_.segment(id).first; !i.is_none(); i = state_.block(i).next) {
      const Block& block = state_.block(i);
      if (block.state == BlockState::active_pending_free)
        return fail(ErrorCode::wrong_usage, -1, "pool ({}, {}) has frees that wait for other streams",
                    key.graph_id, key.user_id);
      if (block.mapped)
        segment.blocks.push_back({block.address, block.size, block.requested_size, block.is_active()});
    }
    saved.segments.push_back(std::move(segment));
  }
  return saved;
}

// All of a saved block's range must still be mapped memory of the pool, with no free under way.
Status DeviceAllocator::can_restore(const PoolCheckpoint& saved, const BlockPool& pool) const {
  for (const SegmentId id : state_.segments()) {
    if (owners_[id.index()].pool != &pool) continue;
    for (BlockId i = state_.segment(id).first; !i.is_none(); i = state_.block(i).next) {
      if (state_.block(i).state == BlockState::active_pending_free || cross_.has_uses(i))
        return fail(ErrorCode::wrong_usage, -1, "a block of the pool at {:#x} waits for other streams",
                    state_.block(i).address);
    }
  }
  for (const CheckpointSegment& segment : saved.segments) {
    const SegmentId id = state_.segment_containing(segment.address);
    if (id.is_none() || owners_[id.index()].pool != &pool || state_.segment(id).address != segment.address)
      return fail(ErrorCode::wrong_usage, -1, "the pool has no segment at {:#x} any more", segment.address);
    uint64_t from = segment.address;
    for (const CheckpointBlock& block : segment.blocks) {
      if (block.size <= 0 || block.address < from || block.address >= state_.segment(id).end() ||
          static_cast<uint64_t>(block.size) > state_.segment(id).end() - block.address)
        return fail(ErrorCode::wrong_usage, -1, "the saved block at {:#x} does not fit into its segment",
                    block.address);
      from = block.address + static_cast<uint64_t>(block.size);
      for (BlockId i = state_.block_containing(block.address); !i.is_none() && state_.block(i).address < from;
           i = state_.block(i).next) {
        if (!state_.block(i).mapped)
          return fail(ErrorCode::wrong_usage, -1, "memory at {:#x} is not mapped any more", block.address);
      }
    }
  }
  return {};
}

Status DeviceAllocator::restore(const PoolCheckpoint& saved) {
  BlockPool* pool = find_pool(saved.pool);
  if (pool == nullptr || pool->is_default()) return no_such_pool(saved.pool);
  if (auto status = can_restore(saved, *pool); !status) return status;
  std::vector<uint64_t> freed;
  for (const SegmentId id : state_.segments()) {
    if (owners_[id.index()].pool != pool) continue;
    for (BlockId i = state_.segment(id).first; !i.is_none(); i = state_.block(i).next) {
      if (state_.block(i).is_active()) freed.push_back(state_.block(i).address);
    }
  }
  for (const uint64_t address : freed) (void)free(address);

  // Every saved block is carved again in order, then those that were free are freed: the cuts come out as
  // they were. What lies before a saved block (an expandable segment may have grown) is carved with them.
  freed.clear();
  const auto carve = [&](BlockId id, int64_t size, int64_t requested) {
    Request request;
    request.requested = requested;
    request.pool = pool;
    set_of(id).erase(id);
    return hand_out_part(id, size, request).has_value();
  };
  for (const CheckpointSegment& segment : saved.segments) {
    for (const CheckpointBlock& block : segment.blocks) {
      BlockId id = state_.block_containing(block.address);
      bool ok = true;
      if (const uint64_t start = state_.block(id).address; start < block.address) {
        freed.push_back(start);
        const auto gap = static_cast<int64_t>(block.address - start);
        ok = carve(id, gap, gap);
        id = state_.block_containing(block.address);
      }
      if (!ok || !carve(id, block.size, block.allocated ? block.requested_size : block.size)) {
        (void)no_room();
        return tl::unexpected(failure_);
      }
      if (!block.allocated) freed.push_back(block.address);
    }
  }
  for (const uint64_t address : freed) (void)free(address);
  return {};
}

}  // namespace gpustrata::alloc
