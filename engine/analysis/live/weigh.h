// Live memory: blocks that count, summed up by what they have in common. Everything that says who holds how much asks here.
//
// A block is a point (born, freed); a question of moments and ranges is a box in that plane (When). Blocks that count become
// ranks, ranks become sums by stack or by any other number (a key), and sums by stack become sums by whatever a stack says
// (keys.h): blocks are looked at once, however many ways they are grouped.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "engine/base/column.h"
#include "engine/base/ids.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/bands.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

// Both ends of both ranges count. Bands that a filter left out (replay/chosen_bands.h) are never meant.
struct When {
  int32_t born_from = -1, born_until = std::numeric_limits<int32_t>::max();
  int32_t freed_from = 0, freed_until = std::numeric_limits<int32_t>::max();

  // In use after the event; -1 = before the first.
  [[nodiscard]] static When alive(int32_t event) { return {.born_until = event, .freed_from = event + 1}; }
  // Allocated by an event of [from, until] and never freed; from = -1: what is older than the first, too.
  [[nodiscard]] static When never_freed(const replay::Bands& bands, int32_t from, int32_t until) {
    return {.born_from = from, .born_until = until, .freed_from = bands.events.count};
  }
  [[nodiscard]] bool has(int32_t born, int32_t freed) const {
    return born_from <= born && born <= born_until && freed_from <= freed && freed <= freed_until;
  }
};

// Ascending. `matched`: per band 0 or 1, empty = all. O(bands). Error: limit_exceeded.
[[nodiscard]] Result<Column<int32_t>> ranks_in(const replay::Bands& bands, const When& when,
                                               std::span<const uint8_t> matched, Budget& budget);

struct BlockSum {
  int32_t key = -1;                  // what the blocks have in common; -1 = nothing is known
  int32_t first = -1, largest = -1;  // ranks: the lowest; of the largest block, of equal ones the lowest
  int64_t bytes = 0, blocks = 0;
  int64_t largest_bytes = 0;
  int64_t lit_bytes = 0;  // of bytes: what a filter means
};

// BlockSums by key, in the order in which the keys came, until they are ordered.
class BlockSums {
 public:
  explicit BlockSums(Budget& budget) : place_(budget), rows_(budget) {}

  // Adds blocks to those of the same key. False = no memory.
  [[nodiscard]] bool add(const BlockSum& part);
  [[nodiscard]] bool add(int32_t key, int32_t rank, int64_t bytes, bool lit = false) {
    return add({key, rank, rank, bytes, 1, bytes, lit ? bytes : 0});
  }
  // Most bytes first, then blocks, then whose first block is the lowest.
  void order();

  [[nodiscard]] const Column<BlockSum>& rows() const { return rows_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  [[nodiscard]] int64_t blocks() const { return blocks_; }

 private:
  Column<int32_t> place_;  // by key + 1: row, -1 = none yet
  Column<BlockSum> rows_;
  int64_t bytes_ = 0, blocks_ = 0;
};

// By stack: a key is a StackId. `stacks`: per rank (block_attributes.h). Error: limit_exceeded.
[[nodiscard]] Result<BlockSums> sums_by_stack(const replay::Bands& bands, std::span<const int32_t> ranks,
                                              std::span<const StackId> stacks, std::span<const uint8_t> lit,
                                              Budget& budget);
// The same, where stacks are not known yet: those of these ranks alone are looked up. An empty stack is none.
[[nodiscard]] Result<BlockSums> sums_by_stack(const model::Recording& recording, const model::Part& part,
                                              const replay::BlockLives& lives,
                                              std::span<const int32_t> ranks);

// BlockSums by what `key_of` says of the key of a sum. False = no memory.
template <typename KeyOf>
[[nodiscard]] bool regroup(const BlockSums& sums, const KeyOf& key_of, BlockSums& into) {
  for (BlockSum sum : sums.rows()) {
    sum.key = key_of(sum);
    if (!into.add(sum)) return false;
  }
  return true;
}

}  // namespace gpustrata::analysis
