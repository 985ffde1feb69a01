#include "engine/analysis/findings/free_places.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/analysis/findings/fragmentation.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using replay::BlockAt;
using replay::SegmentAt;

bool is_private(const model::Recording& recording, PoolId pool) {
  return !pool.is_none() && recording.pools[pool.index()] != model::Pool{};
}
PoolId same_pool(const model::Recording& recording, PoolId pool) {
  return is_private(recording, pool) ? pool : PoolId{};
}
StreamId same_stream(StreamId stream) { return stream.is_none() ? StreamId{int16_t{0}} : stream; }

std::vector<FreePlace> find_free_places(const EventContext& context, const replay::MemoryAt& memory) {
  std::map<std::tuple<int16_t, int16_t, bool>, FreePlace> places;  // as many as pools and streams
  for (const SegmentAt& segment : memory.segments()) {
    const auto row = static_cast<size_t>(segment.row);
    const StreamId stream = same_stream(context.history.range_stream[row]);
    const PoolId pool = same_pool(context.recording, context.history.range_pool[row]);
    const bool small = is_small_segment(context, segment);
    FreePlace& place = places[{stream.value, pool.value, small}];
    place.stream = stream;
    place.pool = pool;
    place.small = small;
    add_saturated(place.reserved, segment.size);
    ++place.segments;
    bool empty = true;
    for (const BlockAt& block : memory.blocks_of(segment)) {
      empty = empty && block.row < 0;
      if (block.row >= 0) continue;
      add_saturated(place.cached, block.size);
      place.largest = std::max(place.largest, block.size);
      ++place.blocks;
    }
    if (empty) add_saturated(place.empty_segments, segment.size);
  }
  std::vector<FreePlace> found;
  found.reserve(places.size());
  for (const auto& [key, place] : places) found.push_back(place);
  std::stable_sort(found.begin(), found.end(),
                   [](const FreePlace& a, const FreePlace& b) { return a.largest > b.largest; });
  return found;
}

}  // namespace gpustrata::analysis
