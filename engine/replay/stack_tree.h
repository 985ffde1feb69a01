// A tree on stack order: leaves of 64 blocks, nodes of 64 leaves, each with the first birth, the latest free
// and the largest size in it.
//
// Block b is live after event e if it was born by then and freed later than e; a leaf whose first birth is
// later, or whose latest free is not, is skipped. Blocks may be born in any order: those of a timeline of
// blocks come from bottom to top, but an envelope's (pool_bands.h) lie below what is older. 0.4 bytes per
// block. Questions about one event read only what is live (O(nodes + live leaves)); for many events in order
// see StackSweep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/base/column.h"
#include "engine/replay/bands.h"
#include "engine/replay/live_mask.h"

namespace gpustrata::replay {

inline constexpr int32_t kLeafBlocks = 64;
inline constexpr int32_t kNodeLeaves = 64;
inline constexpr int32_t kNodeBlocks = kLeafBlocks * kNodeLeaves;

class StackTree {
 public:
  explicit StackTree(Budget& budget)
      : leaf_first_born_(budget),
        leaf_last_born_(budget),
        leaf_last_free_(budget),
        node_first_born_(budget),
        node_last_free_(budget),
        nodes_by_birth_(budget),
        leaf_largest_(budget),
        node_largest_(budget) {}

  // False if the budget refuses. Refers to the columns, each with a row for every block.
  [[nodiscard]] bool build(std::span<const int64_t> size, std::span<const int32_t> born,
                           std::span<const int32_t> freed);

  [[nodiscard]] int32_t block_count() const { return static_cast<int32_t>(freed_.size()); }
  [[nodiscard]] int32_t leaf_count() const { return static_cast<int32_t>(leaf_last_free_.size()); }
  [[nodiscard]] int32_t node_count() const { return static_cast<int32_t>(node_last_free_.size()); }
  [[nodiscard]] int64_t size(int32_t block) const { return size_[static_cast<size_t>(block)]; }
  [[nodiscard]] bool is_leaf_dead(int32_t leaf, int32_t event) const {
    return leaf_last_free_[leaf] <= event;
  }
  [[nodiscard]] bool is_node_dead(int32_t node, int32_t event) const {
    return node_last_free_[node] <= event;
  }
  // First birth of the blocks of each leaf.
  [[nodiscard]] std::span<const int32_t> leaf_first_born() const { return leaf_first_born_.span(); }
  [[nodiscard]] int32_t node_first_born(int32_t node) const { return node_first_born_[node]; }
  // Nodes in the order of that.
  [[nodiscard]] std::span<const int32_t> nodes_by_birth() const { return nodes_by_birth_.span(); }
  // Size of the largest block, live or not.
  [[nodiscard]] int64_t largest_in_leaf(int32_t leaf) const { return leaf_largest_[leaf]; }
  [[nodiscard]] int64_t largest_in_node(int32_t node) const { return node_largest_[node]; }

  // Live blocks of a leaf.
  [[nodiscard]] LiveMask live_in(int32_t leaf, int32_t event) const;
  // Sum of the sizes of the blocks of `leaf` that are set in `mask`.
  [[nodiscard]] int64_t bytes_of(int32_t leaf, uint64_t mask) const;

  // Asks the memory for the sizes in the lower or upper half of a leaf. WebAssembly has no instruction for that: there
  // they are read, and nothing waits for what is not used.
  void prefetch_sizes(int32_t leaf, bool upper_half) const {
    constexpr size_t line = 64 / sizeof(int64_t);
    const size_t first = static_cast<size_t>(leaf) * kLeafBlocks + (upper_half ? kLeafBlocks / 2 : 0);
    const size_t end = std::min(first + kLeafBlocks / 2, size_.size());
    for (size_t i = first; i < end; i += line) {
#if defined(__wasm__)
      [[maybe_unused]] const int64_t read = *static_cast<const volatile int64_t*>(&size_[i]);
#else
      __builtin_prefetch(&size_[i]);
#endif
    }
  }
  // Bytes of live blocks of lower rank.
  [[nodiscard]] int64_t bytes_below(int32_t rank, int32_t event) const;
  // Appends the live blocks of [from, to) in stack order. False = no memory.
  [[nodiscard]] bool live_at(int32_t event, int32_t from, int32_t to, Column<int32_t>& found) const;
  // The live block that holds byte `height` of the stack, -1 = none.
  [[nodiscard]] int32_t block_at(int64_t height, int32_t event) const;

 private:
  [[nodiscard]] bool has_live(int32_t leaf, int32_t event) const {
    return leaf_first_born_[leaf] <= event && !is_leaf_dead(leaf, event);
  }
  [[nodiscard]] bool node_has_live(int32_t node, int32_t event) const {
    return node_first_born(node) <= event && !is_node_dead(node, event);
  }

  std::span<const int64_t> size_;
  std::span<const int32_t> born_;
  std::span<const int32_t> freed_;
  Column<int32_t> leaf_first_born_, leaf_last_born_, leaf_last_free_;
  Column<int32_t> node_first_born_, node_last_free_;
  Column<int32_t> nodes_by_birth_;
  Column<int64_t> leaf_largest_;
  Column<int64_t> node_largest_;
};

}  // namespace gpustrata::replay
