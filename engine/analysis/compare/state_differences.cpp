#include "engine/analysis/compare/state_differences.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "engine/analysis/findings/fragmentation.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

using Key = std::tuple<int64_t, int64_t, bool>;  // of the pool; small

struct Segment {
  uint64_t address = 0;
  model::Pool pool;
  bool small = false;
  PoolUse use;
};

// In the order of addresses.
[[nodiscard]] std::vector<Segment> segments_of(const EventContext& context, const replay::MemoryAt& memory) {
  std::vector<Segment> segments;
  segments.reserve(memory.segments().size());
  for (const replay::SegmentAt& at : memory.segments()) {
    const PoolId id = context.history.range_pool[at.row];
    Segment segment{at.address, id.is_none() ? model::Pool{} : context.recording.pools[id.index()],
                    is_small_segment(context, at), PoolUse{1, at.size, 0, 0}};
    for (const replay::BlockAt& block : memory.blocks_of(at)) {
      if (block.row < 0)
        segment.use.largest_free = std::max(segment.use.largest_free, block.size);
      else
        add_saturated(segment.use.used, block.size);
    }
    segments.push_back(segment);
  }
  return segments;
}

// At most 32768 pools.
void add_to_pools(const std::vector<Segment>& segments, std::map<Key, PoolDifference>& rows,
                  PoolUse PoolDifference::*side) {
  for (const Segment& segment : segments) {
    PoolDifference& row = rows[{segment.pool.graph_id, segment.pool.user_id, segment.small}];
    row.pool = segment.pool;
    row.small = segment.small;
    PoolUse& use = row.*side;
    ++use.segments;
    add_saturated(use.reserved, segment.use.reserved);
    add_saturated(use.used, segment.use.used);
    use.largest_free = std::max(use.largest_free, segment.use.largest_free);
  }
}

[[nodiscard]] SegmentDifference beside(const Segment* recorded, const Segment* simulated) {
  const Segment& one = recorded != nullptr ? *recorded : *simulated;
  SegmentDifference row{one.address, one.pool, one.small, {}, {}};
  if (recorded != nullptr) row.recorded = recorded->use;
  if (simulated != nullptr) row.simulated = simulated->use;
  return row;
}

[[nodiscard]] bool is_same(const PoolUse& a, const PoolUse& b) {
  return a.reserved == b.reserved && a.used == b.used && a.largest_free == b.largest_free;
}

// Sizes are at least 0: differences do not overflow.
[[nodiscard]] bool is_before(const SegmentDifference& a, const SegmentDifference& b) {
  const auto key = [](const SegmentDifference& row) {
    return std::tuple(-std::abs(row.simulated.reserved - row.recorded.reserved),
                      -std::abs(row.simulated.used - row.recorded.used), row.address);
  };
  return key(a) < key(b);
}

void add_segments(const std::vector<Segment>& recorded, const std::vector<Segment>& simulated,
                  StateDifferences& found) {
  auto was = recorded.begin();
  auto is = simulated.begin();
  while (was != recorded.end() || is != simulated.end()) {
    const bool here = was != recorded.end() && (is == simulated.end() || was->address <= is->address);
    const bool there = is != simulated.end() && (was == recorded.end() || is->address <= was->address);
    if (here && there && is_same(was->use, is->use))
      ++found.same;
    else
      found.segments.push_back(beside(here ? &*was : nullptr, there ? &*is : nullptr));
    if (here) ++was;
    if (there) ++is;
  }
  const size_t kept = std::min(found.segments.size(), kMostSegmentDifferences);
  std::partial_sort(found.segments.begin(), found.segments.begin() + static_cast<ptrdiff_t>(kept),
                    found.segments.end(), is_before);
  found.left_out = static_cast<int64_t>(found.segments.size() - kept);
  found.segments.resize(kept);
}

}  // namespace

StateDifferences state_differences(const EventContext& recorded, const replay::MemoryAt& recorded_memory,
                                   const EventContext& simulated, const replay::MemoryAt& simulated_memory) {
  const std::vector<Segment> was = segments_of(recorded, recorded_memory);
  const std::vector<Segment> is = segments_of(simulated, simulated_memory);
  std::map<Key, PoolDifference> rows;
  add_to_pools(was, rows, &PoolDifference::recorded);
  add_to_pools(is, rows, &PoolDifference::simulated);
  StateDifferences found;
  found.pools.reserve(rows.size());
  for (auto& [key, row] : rows) found.pools.push_back(row);
  add_segments(was, is, found);
  return found;
}

}  // namespace gpustrata::analysis
