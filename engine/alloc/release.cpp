// Giving cached memory back to the device: garbage collection, oversize blocks, everything.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

using trace::Action;

// The block is a whole idle segment, not expandable, and in its set.
void DeviceAllocator::release_segment(BlockId id, const Origin& origin) {
  const SegmentId segment_id = state_.block(id).segment;
  const Segment& segment = state_.segment(segment_id);
  BlockPool& pool = pool_of(id);
  set_of(id).erase(id);
  MemoryStats& stats = state_.stats();
  ++stats.num_device_free;
  tell(Action::segment_free, segment.address, segment.size, segment,
       origin.stack.is_none() ? segment.stack : origin.stack, origin.metadata);
  if (pool.source != nullptr) {
    pool.source->free(segment.address, segment.size, ordinal_, segment.stream);
  } else {
    device_.free(segment.address, segment.size);
  }
  device_bytes_ -= segment.size;
  if (segment.size >= config_.max_split_size) stats.oversize_segments.change(-1);
  remove_segment(segment_id);
}

// Oldest unsplit blocks of the default large pool, until the share of the limit in use is below the
// threshold.
void DeviceAllocator::collect_garbage(const Origin& origin) {
  const auto threshold =
      static_cast<int64_t>(std::floor(config_.garbage_collection_threshold * static_cast<double>(allowed_)));
  if (device_bytes_ <= threshold) return;
  const int64_t target = device_bytes_ - threshold;
  BlockSet& set = pools_.front()->large;
  struct Candidate {
    BlockId id;
    int64_t age;
    bool expandable;  // counts, but is not given back
  };
  std::vector<Candidate> candidates;
  double age_sum = 0;
  set.for_each([&](BlockId id) {
    if (state_.block(id).is_split()) return;
    const uint32_t age = static_cast<uint32_t>(set.searches) - state_.block(id).birth;
    candidates.push_back({id, age, state_.segment_of(id).expandable});
    age_sum += static_cast<double>(candidates.back().age);
  });
  auto left = static_cast<double>(candidates.size());
  int64_t released = 0;
  bool any = true;
  while (released < target && any && left > 0) {
    any = false;
    const double least_age = age_sum / left;
    std::vector<Candidate> younger;
    for (const Candidate& candidate : candidates) {
      if (candidate.expandable || static_cast<double>(candidate.age) < least_age) {
        younger.push_back(candidate);
        continue;
      }
      any = true;
      released += state_.block(candidate.id).size;
      age_sum -= static_cast<double>(candidate.age);
      --left;
      release_segment(candidate.id, origin);
    }
    candidates = std::move(younger);
  }
}

// With max_split_size: oversize blocks of the request's stream and pool. True = enough to try again.
bool DeviceAllocator::release_available(const Request& request) {
  if (config_.max_split_size == kUnlimited) return false;
  const int64_t wanted = std::max(request.rounded, config_.max_split_size);
  BlockSet& set = request.set();
  // PyTorch does not look for neighbours: once expandable segments were on, or max_split_size has changed, it
  // can free a segment of which another part is in use. A split block is never given back here.
  const auto releasable = [&](BlockId id) {
    return !state_.segment_of(id).expandable && !state_.block(id).is_split();
  };
  const BlockId large_enough = set.first_of_at_least(request.stream, wanted);
  if (!large_enough.is_none() && releasable(large_enough)) {
    release_segment(large_enough, request.origin);
    return true;
  }
  BlockId id = large_enough.is_none() ? set.last_below(request.stream, wanted) : set.before(large_enough);
  int64_t released = 0;
  while (released < wanted && !id.is_none() && state_.block(id).size >= config_.max_split_size) {
    const BlockId next = set.before(id);
    if (releasable(id)) {
      released += state_.block(id).size;
      release_segment(id, request.origin);
    }
    id = next;
  }
  return released >= wanted;
}

void DeviceAllocator::release_set(BlockSet& set, const Origin& origin) {
  std::vector<BlockId> whole, expandable;
  set.for_each([&](BlockId id) {
    if (state_.segment_of(id).expandable) {
      expandable.push_back(id);
    } else if (!state_.block(id).is_split()) {
      whole.push_back(id);
    }
  });
  if (preference_ != nullptr) {
    preference_->give_back(whole);
    preference_->give_back(expandable);
  }
  for (const BlockId id : whole) release_segment(id, origin);
  for (const BlockId id : expandable) unmap_pages(id, origin);
}

// Everything nobody uses: the default pool unless pools are routed, and private pools without users; or one
// private pool without users.
void DeviceAllocator::release_cached(PoolKey key, const Origin& origin) {
  BlockPool& ordinary = *pools_.front();
  if (key == PoolKey{} && !deferring()) {
    ++state_.stats().num_sync_all_streams;
    complete_deferred_frees(origin);
    wait_for_events(origin, nullptr);
    release_set(ordinary.large, origin);
    release_set(ordinary.small, origin);
  }
  for (const auto& pool : pools_) {
    if (pool->is_default() || pool->use_count > 0) continue;
    if (key != PoolKey{}) {
      if (pool->key != key) continue;
      ++state_.stats().num_sync_all_streams;
      if (!deferring()) complete_deferred_frees(origin);
      wait_for_events(origin, pool.get());
    }
    release_set(pool->small, origin);
    release_set(pool->large, origin);
    // Reservations for which no page could be had.
    for (BlockSet* set : {&pool->small, &pool->large}) {
      const std::vector<BlockId> unmapped = set->unmapped();
      for (const BlockId id : unmapped) {
        if (!state_.block(id).is_split()) release_reservation(id);
      }
    }
  }
  // PyTorch counts a pool's mappings and unmappings, which can reach 0 (or less) while a block lives. Here a
  // pool ends when it owns no segment.
  std::erase_if(pools_, [&](const auto& pool) {
    const bool ends = !pool->is_default() && pool->use_count == 0 && pool->segments == 0;
    if (ends) pool_of_key_.erase(pool->key);
    return ends;
  });
}

void DeviceAllocator::empty_cache(PoolKey pool, const Origin& origin) { release_cached(pool, origin); }

}  // namespace gpustrata::alloc
