// Private pools as envelopes in the timeline: memory that a pool keeps counts as allocated, whether blocks
// use it or not, by the rule of the official viewer's "Allocated Memory (incl. Private Pools)".
//
//  - A pool is (graph id, user id, stream); (0, 0) and unknown pools are no private ones. A block's pool is
//    that of its event, else of the final segment around its address.
//  - Its reserved bytes start as those of its final segments less the net of its segment events, and change
//    with these. A segment event's pool is its own, else that of the final segment around its address.
//  - Its envelope is the highest of its active and reserved bytes so far: it never shrinks. It is there from
//    the first event that tells of the pool, from the start if the pool has blocks or memory then.
//  - Beyond 65,536 pools (no program has so many) further ones are taken for the default pool.
//  - Its blocks are bands inside the envelope. What they leave free is the rest: pieces of constant height on
//    top of them. All other blocks are as in block_lives.h.
//
// Bands are numbered from bottom to top, but not in the order of birth: envelopes that are there from the
// start come first, then blocks and envelopes by birth, each envelope as its blocks by rank and then its
// pieces.
//
// Time: O(events * log(segments) + blocks). Memory: about 24 bytes a block, and as much for each event that
// changes a pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::replay {

struct PoolEnvelope {
  PoolId pool;
  StreamId stream;         // never none: the default stream is index 0
  int32_t born = -1;       // -1 = from the start
  int32_t first_band = 0;  // its blocks
  int32_t first_rest = 0;  // its pieces
  int32_t end_band = 0;
  int32_t blocks = 0;
  int64_t peak_active = 0;  // bytes in blocks, highest
  StepSeries capacity;      // height
  StepSeries reserved;      // bytes in segments
};

// `pending` also counts the rests of envelopes: level less that is what the program uses. Diagnostics are
// those of the blocks; level_overflow if the envelopes would go beyond kMaxLevel: then there are none, and
// all blocks are bands of the default pool.
struct PoolBands : Bands {
  explicit PoolBands(Budget& budget) : Bands(budget), rank_of_band(budget), band_of_rank(budget) {}

  std::vector<PoolEnvelope> envelopes;
  // Blocks have the ranks of their own timeline, envelope i the rank blocks + i.
  Column<int32_t> rank_of_band;
  Column<int32_t> band_of_rank;  // of blocks
};

// Bytes of an envelope that no block uses after the event. O(log pieces).
[[nodiscard]] int64_t rest_at(const Bands& bands, const PoolEnvelope& envelope, int32_t event);

// `pool_of_block` and `stream_of_block`: per rank of `blocks` (analysis/device/block_attributes.h).
// Error: limit_exceeded.
[[nodiscard]] Result<PoolBands> pool_bands(const model::Recording& recording, const model::Part& part,
                                           const BlockLives& blocks, std::span<const PoolId> pool_of_block,
                                           std::span<const StreamId> stream_of_block);

}  // namespace gpustrata::replay
