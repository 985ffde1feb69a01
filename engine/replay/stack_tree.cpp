#include "engine/replay/stack_tree.h"

#include <algorithm>
#include <bit>

namespace memstrata::replay {

bool StackTree::build(const Lifetimes& lifetimes) {
  size_ = lifetimes.size.span();
  born_ = lifetimes.born.span();
  freed_ = lifetimes.freed.span();
  const size_t blocks = freed_.size();
  const size_t leaves = (blocks + kLeafBlocks - 1) / kLeafBlocks;
  const size_t nodes = (leaves + kNodeLeaves - 1) / kNodeLeaves;
  leaf_last_free_.clear();
  node_last_free_.clear();
  leaf_largest_.clear();
  node_largest_.clear();
  if (!leaf_last_free_.resize(leaves, -1) || !node_last_free_.resize(nodes, -1) ||
      !leaf_largest_.resize(leaves, 0) || !node_largest_.resize(nodes, 0)) {
    return false;
  }
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    const size_t first = leaf * kLeafBlocks;
    int32_t last = -1;
    int64_t largest = 0;
    for (size_t i = first; i < std::min(first + kLeafBlocks, blocks); ++i) {
      last = std::max(last, freed_[i]);
      largest = std::max(largest, size_[i]);
    }
    leaf_last_free_[leaf] = last;
    leaf_largest_[leaf] = largest;
    node_largest_[leaf / kNodeLeaves] = std::max(node_largest_[leaf / kNodeLeaves], largest);
    int32_t& node_last = node_last_free_[leaf / kNodeLeaves];
    node_last = std::max(node_last, last);
  }
  return true;
}

int32_t StackTree::born_until(int32_t event, int32_t hint) const {
  const int32_t* end = born_.data() + born_.size();
  const int32_t* low = born_.data() + hint;
  ptrdiff_t step = 1;
  while (end - low > step && low[step] <= event) {
    low += step;
    step *= 2;
  }
  const int32_t* high = end - low > step ? low + step : end;
  return static_cast<int32_t>(std::upper_bound(low, high, event) - born_.data());
}

LiveMask StackTree::live_in(int32_t leaf, int32_t event, int32_t born) const {
  const int32_t first = leaf * kLeafBlocks;
  const int32_t* freed = freed_.data() + first;
  const int32_t present = born - first;
  if (present >= kLeafBlocks) return live_mask_of_64(freed, event);
  return live_mask_of(freed, static_cast<size_t>(std::max(present, 0)), event);
}

int64_t StackTree::bytes_of(int32_t leaf, uint64_t mask) const {
  const int64_t* sizes = size_.data() + static_cast<size_t>(leaf) * kLeafBlocks;
  int64_t bytes = 0;
  for (; mask != 0; mask &= mask - 1) bytes += sizes[std::countr_zero(mask)];
  return bytes;
}

int64_t StackTree::bytes_below(int32_t rank, int32_t event) const {
  const int32_t limit = std::min(rank, born_until(event));
  int64_t bytes = 0;
  for (int32_t node = 0; node * kNodeBlocks < limit; ++node) {
    if (is_node_dead(node, event)) continue;
    const int32_t end = std::min((node + 1) * kNodeLeaves, leaf_count());
    for (int32_t leaf = node * kNodeLeaves; leaf < end && leaf * kLeafBlocks < limit; ++leaf) {
      if (!is_leaf_dead(leaf, event)) bytes += bytes_of(leaf, live_in(leaf, event, limit).live);
    }
  }
  return bytes;
}

int32_t StackTree::block_at(int64_t height, int32_t event) const {
  if (height < 0) return -1;
  const int32_t born = born_until(event);
  for (int32_t node = 0; node * kNodeBlocks < born; ++node) {
    if (is_node_dead(node, event)) continue;
    const int32_t end = std::min((node + 1) * kNodeLeaves, leaf_count());
    for (int32_t leaf = node * kNodeLeaves; leaf < end; ++leaf) {
      if (is_leaf_dead(leaf, event)) continue;
      uint64_t live = live_in(leaf, event, born).live;
      const int64_t bytes = bytes_of(leaf, live);
      if (height >= bytes) {
        height -= bytes;
        continue;
      }
      for (;; live &= live - 1) {
        const int32_t block = leaf * kLeafBlocks + std::countr_zero(live);
        if (height < size(block)) return block;
        height -= size(block);
      }
    }
  }
  return -1;
}

}  // namespace memstrata::replay
