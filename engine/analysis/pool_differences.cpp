#include "engine/analysis/pool_differences.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/analysis/fragmentation.h"
#include "engine/base/saturating.h"

namespace memstrata::analysis {

namespace {

using Key = std::tuple<int64_t, int64_t, bool>;  // of the pool; small

// At most 32768 pools.
void add_uses(const EventContext& context, const replay::MemoryAt& memory,
              std::map<Key, PoolDifference>& rows, PoolUse PoolDifference::*side) {
  for (const replay::SegmentAt& segment : memory.segments()) {
    const PoolId id = context.history.range_pool[static_cast<size_t>(segment.row)];
    const model::Pool pool = id.is_none() ? model::Pool{} : context.recording.pools[id.index()];
    const bool small = is_small_segment(context, segment);
    PoolDifference& row = rows[{pool.graph_id, pool.user_id, small}];
    row.pool = pool;
    row.small = small;
    PoolUse& use = row.*side;
    ++use.segments;
    add_saturated(use.reserved, segment.size);
    for (const replay::BlockAt& block : memory.blocks_of(segment)) {
      if (block.row < 0)
        use.largest_free = std::max(use.largest_free, block.size);
      else
        add_saturated(use.used, block.size);
    }
  }
}

}  // namespace

std::vector<PoolDifference> pool_differences(const EventContext& recorded,
                                             const replay::MemoryAt& recorded_memory,
                                             const EventContext& simulated,
                                             const replay::MemoryAt& simulated_memory) {
  std::map<Key, PoolDifference> rows;
  add_uses(recorded, recorded_memory, rows, &PoolDifference::recorded);
  add_uses(simulated, simulated_memory, rows, &PoolDifference::simulated);
  std::vector<PoolDifference> differences;
  differences.reserve(rows.size());
  for (auto& [key, row] : rows) differences.push_back(row);
  return differences;
}

}  // namespace memstrata::analysis
