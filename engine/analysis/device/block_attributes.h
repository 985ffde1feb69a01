// What a filter asks and a colour shows of every block: its stack, its stream, its pool, as the details tell
// them. Computed once per view. O(events + blocks log segments), 10 bytes a block.
//
// Where segments of a damaged file overlap, the pool may be that of another segment than in the details.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

struct BlockAttributes {
  explicit BlockAttributes(Budget& budget) : stack(budget), stream(budget), pool(budget) {}

  // Per rank.
  Column<StackId> stack;    // none or an empty stack = nothing is recorded
  Column<StreamId> stream;  // none = the default stream
  Column<PoolId> pool;      // none = unknown

  // As the official viewer numbers streams: 0 stays 0, the others get 1, 2, ... by first appearance in the
  // snapshot. By StreamId; -1 = not in this snapshot.
  std::vector<int32_t> stream_number;

  [[nodiscard]] int32_t number_of(StreamId id) const { return id.is_none() ? 0 : stream_number[id.index()]; }
};

// The same of segments as bands (replay/segment_bands.h). Error: limit_exceeded.
[[nodiscard]] Result<BlockAttributes> segment_attributes(const model::Recording& recording,
                                                         const model::Part& part,
                                                         const replay::StateHistory& history,
                                                         std::span<const int32_t> row_of_rank);

// Error: limit_exceeded.
[[nodiscard]] Result<BlockAttributes> block_attributes(const model::Recording& recording,
                                                       const model::Part& part,
                                                       const replay::BlockLives& lifetimes);

}  // namespace gpustrata::analysis
