// A tree on stack order: leaves of 64 blocks, nodes of 64 leaves, each with the latest free and the largest
// size in it.
//
// Block b is live after event e if it was born by then (b < born_until(e)) and freed later than e; a leaf
// whose latest free is not later than e is skipped. 0.2 bytes per block. Questions about one event read
// only what is live (O(nodes + live leaves)); for many events in order see StackSweep.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/column.h"
#include "engine/replay/lifetimes.h"
#include "engine/replay/live_mask.h"

namespace memstrata::replay {

inline constexpr int32_t kLeafBlocks = 64;
inline constexpr int32_t kNodeLeaves = 64;
inline constexpr int32_t kNodeBlocks = kLeafBlocks * kNodeLeaves;

class StackTree {
 public:
  explicit StackTree(Budget& budget)
      : leaf_last_free_(budget), node_last_free_(budget), leaf_largest_(budget), node_largest_(budget) {}

  // False if the budget refuses. Refers to the columns of `lifetimes`.
  [[nodiscard]] bool build(const Lifetimes& lifetimes);

  [[nodiscard]] int32_t block_count() const { return static_cast<int32_t>(freed_.size()); }
  [[nodiscard]] int32_t leaf_count() const { return static_cast<int32_t>(leaf_last_free_.size()); }
  [[nodiscard]] int32_t node_count() const { return static_cast<int32_t>(node_last_free_.size()); }
  [[nodiscard]] int64_t size(int32_t block) const { return size_[static_cast<size_t>(block)]; }
  [[nodiscard]] bool is_leaf_dead(int32_t leaf, int32_t event) const {
    return leaf_last_free_[static_cast<size_t>(leaf)] <= event;
  }
  [[nodiscard]] bool is_node_dead(int32_t node, int32_t event) const {
    return node_last_free_[static_cast<size_t>(node)] <= event;
  }
  // Size of the largest block, live or not.
  [[nodiscard]] int64_t largest_in_leaf(int32_t leaf) const {
    return leaf_largest_[static_cast<size_t>(leaf)];
  }
  [[nodiscard]] int64_t largest_in_node(int32_t node) const {
    return node_largest_[static_cast<size_t>(node)];
  }

  // Number of blocks born at or before the event (-1: those from the start). O(log blocks); `hint` is a
  // known lower bound that makes it short.
  [[nodiscard]] int32_t born_until(int32_t event, int32_t hint = 0) const;
  // Live blocks of a leaf among the first `born` blocks. `until` may be that of a block not born yet.
  [[nodiscard]] LiveMask live_in(int32_t leaf, int32_t event, int32_t born) const;
  // Sum of the sizes of the blocks of `leaf` that are set in `mask`.
  [[nodiscard]] int64_t bytes_of(int32_t leaf, uint64_t mask) const;

  // Asks the memory for the sizes in the lower or upper half of a leaf.
  void prefetch_sizes(int32_t leaf, bool upper_half) const {
    constexpr size_t line = 64 / sizeof(int64_t);
    const int64_t* sizes =
        size_.data() + static_cast<size_t>(leaf) * kLeafBlocks + (upper_half ? kLeafBlocks / 2 : 0);
    for (size_t i = 0; i < kLeafBlocks / 2; i += line) __builtin_prefetch(sizes + i);
  }

  // Bytes of live blocks of lower rank.
  [[nodiscard]] int64_t bytes_below(int32_t rank, int32_t event) const;
  // The live block that holds byte `height` of the stack, -1 = none.
  [[nodiscard]] int32_t block_at(int64_t height, int32_t event) const;

 private:
  std::span<const int64_t> size_;
  std::span<const int32_t> born_;
  std::span<const int32_t> freed_;
  Column<int32_t> leaf_last_free_;
  Column<int32_t> node_last_free_;
  Column<int64_t> leaf_largest_;
  Column<int64_t> node_largest_;
};

}  // namespace memstrata::replay
