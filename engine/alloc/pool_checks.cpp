// For tests: do the allocator's own books agree with the state?
#include <fmt/core.h>

#include <map>
#include <tuple>

#include "engine/alloc/device_allocator.h"

namespace gpustrata::alloc {

std::string DeviceAllocator::check_pools() const {
  size_t inactive = 0, unmapped = 0, in_sets = 0, in_lists = 0;
  std::map<const BlockPool*, int64_t> segments;
  for (const SegmentId id : state_.segments()) {
    const Segment& segment = state_.segment(id);
    const BlockPool* pool = owners_[id.index()].pool;
    ++segments[pool];
    if (pool->key != segment.pool) return fmt::format("segment at {:#x}: wrong pool", segment.address);
    for (BlockId i = segment.first; !i.is_none(); i = state_.block(i).next) {
      const Block& block = state_.block(i);
      const bool waits = cross_.has_marks(i) || cross_.has_uses(i);
      if (!block.is_active() && waits) return fmt::format("idle block at {:#x} waits", block.address);
      if (block.state == BlockState::active_pending_free && !waits && deferred_.empty())
        return fmt::format("block at {:#x} waits for nothing", block.address);
      if (block.is_active()) continue;
      ++(block.mapped ? inactive : unmapped);
    }
  }
  for (const auto& pool : pools_) {
    for (const BlockSet* set : {&pool->small, &pool->large}) {
      std::string wrong;
      BlockId previous;
      size_t visited = 0;
      int64_t bytes = 0;
      set->for_each([&](BlockId id) {
        ++visited;
        const Block& block = state_.block(id);
        bytes += block.size;
        if (block.is_active() || !block.mapped || &pool_of(id) != pool.get() ||
            state_.segment_of(id).small != (set == &pool->small))
          wrong = fmt::format("block at {:#x} is in a wrong set", block.address);
        if (!previous.is_none() && state_.segment_of(previous).stream == state_.segment_of(id).stream) {
          const Block& last = state_.block(previous);
          if (std::tuple(last.size, last.number, last.address) >=
              std::tuple(block.size, block.number, block.address))
            wrong = fmt::format("block at {:#x} is out of order", block.address);
        }
        previous = id;
      });
      if (!wrong.empty()) return wrong;
      if (visited != set->size()) return "a set counts wrong";
      if (bytes != set->bytes()) return "a set sums wrong";
      in_sets += visited;
      in_lists += set->unmapped().size();
      for (const BlockId id : set->unmapped()) {
        if (state_.block(id).mapped || &pool_of(id) != pool.get())
          return "a mapped block in a list of unmapped ones";
      }
    }
    if (segments[pool.get()] != pool->segments) return "a pool counts its segments wrong";
  }
  if (in_sets != inactive) return fmt::format("{} idle blocks, {} in sets", inactive, in_sets);
  if (in_lists != unmapped) return fmt::format("{} unmapped blocks, {} in lists", unmapped, in_lists);
  if (device_bytes_ != stats().reserved_bytes.all().current) return "device_bytes is not reserved_bytes";
  if (cross_.count_marks() != cross_.outstanding()) return "outstanding marks are counted wrong";
  return {};
}

}  // namespace gpustrata::alloc
