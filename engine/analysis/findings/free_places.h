// Free memory inside the segments after one event, by where requests look for it: pool, stream, and whether blocks are
// small or large.
//
// A file before 2026 does not say the pool of a request: the default one is assumed. O(blocks of the state).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/device/event_context.h"
#include "engine/base/words.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostFreePlaces = 16;  // that an answer lists

// Why a free block did not serve a request.
GPUSTRATA_WORDS(WhyNot, too_small, other_stream, private_pool, small_or_large, max_split, nothing);

// Free memory of one pool and stream.
struct FreePlace {
  StreamId stream;
  PoolId pool;  // none = unknown, taken for the default one
  bool small = false;
  int64_t reserved = 0;  // bytes of segments
  int64_t segments = 0;
  int64_t cached = 0;   // bytes of free blocks
  int64_t largest = 0;  // of them
  int64_t blocks = 0;
  int64_t empty_segments = 0;  // bytes of segments without live blocks
  // Of a request that failed:
  bool own = false;              // it looks here
  WhyNot why = WhyNot::nothing;  // of the largest
};

// All that have a segment, largest free block first.
[[nodiscard]] std::vector<FreePlace> find_free_places(const EventContext& context,
                                                      const replay::MemoryAt& memory);

[[nodiscard]] bool is_private(const model::Recording& recording, PoolId pool);
// Pools and streams that are the same for the allocator: an unknown pool is the default one.
[[nodiscard]] PoolId same_pool(const model::Recording& recording, PoolId pool);
[[nodiscard]] StreamId same_stream(StreamId stream);

}  // namespace gpustrata::analysis
