#include "engine/replay/stack_tree.h"

#include <bit>

namespace gpustrata::replay {

bool StackTree::build(std::span<const int64_t> size, std::span<const int32_t> born,
                      std::span<const int32_t> freed) {
  size_ = size;
  born_ = born;
  freed_ = freed;
  const size_t blocks = freed_.size();
  const size_t leaves = (blocks + kLeafBlocks - 1) / kLeafBlocks;
  const size_t nodes = (leaves + kNodeLeaves - 1) / kNodeLeaves;
  for (Column<int32_t>* column : {&leaf_first_born_, &leaf_last_born_, &leaf_last_free_, &node_first_born_,
                                  &node_last_free_, &nodes_by_birth_}) {
    column->clear();
  }
  leaf_largest_.clear();
  node_largest_.clear();
  if (!leaf_first_born_.resize(leaves, INT32_MAX) || !leaf_last_born_.resize(leaves, -1) ||
      !leaf_last_free_.resize(leaves, -1) || !node_first_born_.resize(nodes, INT32_MAX) ||
      !node_last_free_.resize(nodes, -1) || !nodes_by_birth_.resize(nodes, 0) ||
      !leaf_largest_.resize(leaves, 0) || !node_largest_.resize(nodes, 0)) {
    return false;
  }
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    const size_t first = leaf * kLeafBlocks;
    int32_t first_born = INT32_MAX;
    int32_t last_born = -1;
    int32_t last_free = -1;
    int64_t largest = 0;
    for (size_t i = first; i < std::min(first + kLeafBlocks, blocks); ++i) {
      first_born = std::min(first_born, born_[i]);
      last_born = std::max(last_born, born_[i]);
      last_free = std::max(last_free, freed_[i]);
      largest = std::max(largest, size_[i]);
    }
    leaf_first_born_[leaf] = first_born;
    leaf_last_born_[leaf] = last_born;
    leaf_last_free_[leaf] = last_free;
    leaf_largest_[leaf] = largest;
    const size_t node = leaf / kNodeLeaves;
    node_first_born_[node] = std::min(node_first_born_[node], first_born);
    node_last_free_[node] = std::max(node_last_free_[node], last_free);
    node_largest_[node] = std::max(node_largest_[node], largest);
  }
  for (size_t node = 0; node < nodes; ++node) nodes_by_birth_[node] = static_cast<int32_t>(node);
  std::stable_sort(nodes_by_birth_.data(), nodes_by_birth_.data() + nodes,
                   [this](int32_t a, int32_t b) { return node_first_born(a) < node_first_born(b); });
  return true;
}

LiveMask StackTree::live_in(int32_t leaf, int32_t event) const {
  const auto first = static_cast<size_t>(leaf) * kLeafBlocks;
  const int32_t* freed = freed_.data() + first;
  const size_t count = std::min(freed_.size() - first, size_t{kLeafBlocks});
  if (leaf_last_born_[leaf] > event) return live_mask_of(born_.data() + first, freed, count, event);
  return count == kLeafBlocks ? live_mask_of_64(freed, event) : live_mask_of(freed, count, event);
}

int64_t StackTree::bytes_of(int32_t leaf, uint64_t mask) const {
  const int64_t* sizes = size_.data() + static_cast<size_t>(leaf) * kLeafBlocks;
  int64_t bytes = 0;
  for (; mask != 0; mask &= mask - 1) bytes += sizes[std::countr_zero(mask)];
  return bytes;
}

int64_t StackTree::bytes_below(int32_t rank, int32_t event) const {
  int64_t bytes = 0;
  for (int32_t node = 0; node * kNodeBlocks < rank; ++node) {
    if (!node_has_live(node, event)) continue;
    const int32_t end = std::min((node + 1) * kNodeLeaves, leaf_count());
    for (int32_t leaf = node * kNodeLeaves; leaf < end && leaf * kLeafBlocks < rank; ++leaf) {
      if (!has_live(leaf, event)) continue;
      const uint64_t live = live_in(leaf, event).live;
      const int32_t blocks = rank - leaf * kLeafBlocks;
      bytes += bytes_of(leaf, blocks >= kLeafBlocks ? live : live & ((uint64_t{1} << blocks) - 1));
    }
  }
  return bytes;
}

bool StackTree::live_at(int32_t event, int32_t from, int32_t to, Column<int32_t>& found) const {
  for (int32_t node = from / kNodeBlocks; node < node_count() && node * kNodeBlocks < to; ++node) {
    if (!node_has_live(node, event)) continue;
    const int32_t end = std::min((node + 1) * kNodeLeaves, leaf_count());
    for (int32_t leaf = node * kNodeLeaves; leaf < end; ++leaf) {
      if (!has_live(leaf, event)) continue;
      for (uint64_t live = live_in(leaf, event).live; live != 0; live &= live - 1) {
        const int32_t block = leaf * kLeafBlocks + std::countr_zero(live);
        if (block >= from && block < to && !found.push_back(block)) return false;
      }
    }
  }
  return true;
}

int32_t StackTree::block_at(int64_t height, int32_t event) const {
  if (height < 0) return -1;
  for (int32_t node = 0; node < node_count(); ++node) {
    if (!node_has_live(node, event)) continue;
    const int32_t end = std::min((node + 1) * kNodeLeaves, leaf_count());
    for (int32_t leaf = node * kNodeLeaves; leaf < end; ++leaf) {
      if (!has_live(leaf, event)) continue;
      uint64_t live = live_in(leaf, event).live;
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

}  // namespace gpustrata::replay
