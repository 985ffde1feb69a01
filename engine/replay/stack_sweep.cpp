#include "engine/replay/stack_sweep.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace memstrata::replay {

namespace {

// The smallest whole number greater than `bytes`, within int64.
int64_t whole_above(double bytes) {
  if (!(bytes < 0x1p62)) return INT64_MAX;
  if (bytes < -0x1p62) return INT64_MIN;
  return static_cast<int64_t>(std::floor(bytes)) + 1;
}

}  // namespace

RowThresholds::RowThresholds(const RowGrid& rows) : count(std::max(rows.count, 0)) {
  threshold.assign(static_cast<size_t>(count) + 1, INT64_MAX);
  const bool sensible =
      std::isfinite(rows.bottom) && std::isfinite(rows.bytes_per_row) && rows.bytes_per_row > 0;
  if (!sensible) return;
  for (int32_t r = 0; r < count; ++r) {
    threshold[static_cast<size_t>(r)] = whole_above(rows.bottom + (r + 0.5) * rows.bytes_per_row);
  }
  while (first < count && threshold[static_cast<size_t>(first)] <= 0) ++first;
  merged_below =
      rows.bytes_per_row < 0x1p62 ? static_cast<int64_t>(std::ceil(rows.bytes_per_row)) : INT64_MAX;
}

bool StackSweep::Scratch::reserve(const StackTree& tree) {
  const auto node_count = static_cast<size_t>(tree.node_count());
  const size_t leaf_count = node_count * kNodeLeaves;
  return leaves.resize(leaf_count, Leaf{}) && leaf_bytes.resize(leaf_count, 0) &&
         leaf_until.resize(leaf_count, 0) && nodes.resize(node_count, Node{}) && active.reserve(node_count);
}

StackSweep::StackSweep(const StackTree& tree, Scratch& scratch) : tree_(tree), scratch_(scratch) {
  scratch_.active.clear();
}

void StackSweep::move_to(int32_t event) {
  event_ = event;
  born_ = tree_.born_until(event, born_);
  start_nodes();
  drop_dead_nodes();
}

void StackSweep::start_nodes() {
  for (; next_node_ * kNodeBlocks < born_; ++next_node_) {
    if (tree_.is_node_dead(next_node_, event_)) continue;
    scratch_.nodes[static_cast<size_t>(next_node_)] = {
        .leaves = 0, .bytes = 0, .drawn_at = kNotDrawn, .rows_end = 0, .until = INT32_MAX, .born = 0};
    std::fill_n(scratch_.leaf_until.data() + next_node_ * kNodeLeaves, kNodeLeaves, INT32_MAX);
    (void)scratch_.active.push_back(next_node_);  // there is room for every node
  }
}

// Nodes found dead stay listed, empty, until they are the majority: removing costs a pass over the list.
void StackSweep::drop_dead_nodes() {
  Column<int32_t>& active = scratch_.active;
  if (static_cast<size_t>(dead_nodes_) * 2 <= active.size()) return;
  size_t kept = 0;
  for (const int32_t node : active) {
    if (!tree_.is_node_dead(node, event_)) active[kept++] = node;
  }
  active.truncate(kept);
  dead_nodes_ = 0;
}

StackSweep::Node& StackSweep::look_at(int32_t node) {
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  const bool grows = state.born < kNodeBlocks && node * kNodeBlocks + state.born < born_;
  if (state.until <= event_ || grows) refresh(node);
  return state;
}

void StackSweep::refresh(int32_t node) {
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  const int32_t* until = scratch_.leaf_until.data() + node * kNodeLeaves;
  if (state.until <= event_) end_blocks(node, state.leaves & ~live_mask_of_64(until, event_).live);
  if (state.born < kNodeBlocks) add_born_blocks(node);
  state.until = live_mask_of_64(until, event_).until;
  state.drawn_at = kNotDrawn;
  if (state.leaves == 0 && tree_.is_node_dead(node, event_)) ++dead_nodes_;
}

void StackSweep::end_blocks(int32_t node, uint64_t expired) {
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  for (; expired != 0; expired &= expired - 1) {
    const int i = std::countr_zero(expired);
    const int32_t index = node * kNodeLeaves + i;
    Leaf& leaf = scratch_.leaves[static_cast<size_t>(index)];
    const LiveMask mask = tree_.live_in(index, event_, node * kNodeBlocks + state.born);
    const int64_t ended = tree_.bytes_of(index, leaf.live & ~mask.live);
    scratch_.leaf_bytes[static_cast<size_t>(index)] -= ended;
    scratch_.leaf_until[static_cast<size_t>(index)] = mask.until;
    state.bytes -= ended;
    leaf.live = mask.live;
    leaf.drawn_at = kNotDrawn;
    if (mask.live == 0) state.leaves &= ~(uint64_t{1} << i);
  }
}

void StackSweep::add_born_blocks(int32_t node) {
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  const int32_t born = std::min(born_ - node * kNodeBlocks, kNodeBlocks);
  for (int32_t i = state.born / kLeafBlocks; i * kLeafBlocks < born; ++i) {
    const int32_t index = node * kNodeLeaves + i;
    if (tree_.is_leaf_dead(index, event_)) continue;
    const LiveMask mask = tree_.live_in(index, event_, node * kNodeBlocks + born);
    if (mask.live == 0) continue;
    const uint64_t bit = uint64_t{1} << i;
    int64_t& bytes = scratch_.leaf_bytes[static_cast<size_t>(index)];
    if ((state.leaves & bit) != 0) state.bytes -= bytes;
    bytes = tree_.bytes_of(index, mask.live);
    state.bytes += bytes;
    state.leaves |= bit;
    scratch_.leaf_until[static_cast<size_t>(index)] = mask.until;
    scratch_.leaves[static_cast<size_t>(index)] = {.live = mask.live, .drawn_at = kNotDrawn};
  }
  state.born = born;
}

int64_t StackSweep::bytes_below(int32_t rank) {
  const int32_t limit = std::min(rank, born_);
  int64_t bytes = 0;
  for (const int32_t node : scratch_.active) {
    if (node * kNodeBlocks >= limit) break;
    const Node& state = look_at(node);
    if ((node + 1) * kNodeBlocks <= limit) {
      bytes += state.bytes;
      continue;
    }
    for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
      const int32_t leaf = node * kNodeLeaves + std::countr_zero(rest);
      if (leaf * kLeafBlocks >= limit) break;
      const int32_t blocks = limit - leaf * kLeafBlocks;
      const auto at = static_cast<size_t>(leaf);
      bytes += blocks >= kLeafBlocks
                   ? scratch_.leaf_bytes[at]
                   : tree_.bytes_of(leaf, scratch_.leaves[at].live & ((uint64_t{1} << blocks) - 1));
    }
  }
  return bytes;
}

void StackSweep::draw(const RowThresholds& rows, std::span<uint32_t> pixels,
                      std::span<const uint32_t> before) {
  const int64_t* threshold = rows.threshold.data();
  int32_t row = rows.first;
  std::fill_n(pixels.data(), row, kNothing);
  int64_t offset = 0;
  for (const int32_t node : scratch_.active) {
    if (row == rows.count) break;
    Node& state = look_at(node);
    const int64_t end = offset + state.bytes;
    if (threshold[row] <= end) {
      if (state.drawn_at == offset) {
        std::copy(before.begin() + row, before.begin() + state.rows_end, pixels.begin() + row);
        row = state.rows_end;
      } else {
        draw_leaves(node, offset, rows, pixels.data(), before.data(), row);
        state.drawn_at = offset;
        state.rows_end = row;
      }
    }
    offset = end;
  }
  std::fill(pixels.begin() + row, pixels.end(), kNothing);
}

void StackSweep::draw_leaves(int32_t node, int64_t offset, const RowThresholds& rows, uint32_t* pixels,
                             const uint32_t* before, int32_t& row) {
  const int64_t* threshold = rows.threshold.data();
  const Node& state = scratch_.nodes[static_cast<size_t>(node)];
  for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
    const int32_t index = node * kNodeLeaves + std::countr_zero(rest);
    const int64_t end = offset + scratch_.leaf_bytes[static_cast<size_t>(index)];
    if (threshold[row] <= end) {
      Leaf& leaf = scratch_.leaves[static_cast<size_t>(index)];
      if (leaf.drawn_at == offset) {
        for (; threshold[row] <= end; ++row) pixels[row] = before[row];
      } else {
        draw_blocks(index, offset, end, rows, pixels, row);
        leaf.drawn_at = offset;
      }
    }
    offset = end;
  }
}

void StackSweep::draw_blocks(int32_t leaf, int64_t offset, int64_t end, const RowThresholds& rows,
                             uint32_t* pixels, int32_t& row) const {
  const int64_t* threshold = rows.threshold.data();
  const auto pixel_of = [&](int32_t block) {
    return static_cast<uint32_t>(block) | (tree_.size(block) < rows.merged_below ? kMergedBit : 0);
  };
  uint64_t live = scratch_.leaves[static_cast<size_t>(leaf)].live;
  // One row only, and nearer to the top: walk down from there.
  if (threshold[row + 1] > end && threshold[row] - offset > end - threshold[row]) {
    while (live != 0) {
      const int top = 63 - std::countl_zero(live);
      const int32_t block = leaf * kLeafBlocks + top;
      end -= tree_.size(block);
      if (end < threshold[row]) {
        pixels[row++] = pixel_of(block);
        return;
      }
      live &= ~(uint64_t{1} << top);
    }
    return;
  }
  for (; live != 0; live &= live - 1) {
    const int32_t block = leaf * kLeafBlocks + std::countr_zero(live);
    offset += tree_.size(block);
    if (threshold[row] > offset) continue;
    const uint32_t pixel = pixel_of(block);
    do {
      pixels[row++] = pixel;
    } while (threshold[row] <= offset);
    if (threshold[row] > end) return;
  }
}

}  // namespace memstrata::replay
