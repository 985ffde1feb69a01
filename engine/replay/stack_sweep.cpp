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
  const bool sensible = std::isfinite(rows.bottom) && std::isfinite(rows.bytes_per_row) && rows.bytes_per_row > 0;
  if (!sensible) return;
  for (int32_t r = 0; r < count; ++r) {
    threshold[static_cast<size_t>(r)] = whole_above(rows.bottom + (r + 0.5) * rows.bytes_per_row);
  }
  while (first < count && threshold[static_cast<size_t>(first)] <= 0) ++first;
  merged_below = rows.bytes_per_row < 0x1p62 ? static_cast<int64_t>(std::ceil(rows.bytes_per_row)) : INT64_MAX;
}

bool StackSweep::Scratch::reserve(const StackTree& tree) {
  return leaves.resize(static_cast<size_t>(tree.leaf_count()), Leaf{}) &&
         nodes.resize(static_cast<size_t>(tree.node_count()), Node{}) &&
         active.reserve(static_cast<size_t>(tree.node_count()));
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
    scratch_.nodes[static_cast<size_t>(next_node_)] = {.leaves = 0, .bytes = 0, .drawn_at = 0, .until = INT32_MAX,
                                                       .born = 0, .walked = -1, .drawn = -1, .rows_end = 0,
                                                       .changed = true};
    (void)scratch_.active.push_back(next_node_);  // capacity for every node is there
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
  const int32_t first_leaf = node * kNodeLeaves;
  Leaf* leaves = scratch_.leaves.data() + first_leaf;

  for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    Leaf& leaf = leaves[i];
    if (leaf.until > event_) continue;
    const LiveMask mask = tree_.live_in(first_leaf + i, event_, node * kNodeBlocks + state.born);
    leaf.bytes -= tree_.bytes_of(first_leaf + i, leaf.live & ~mask.live);
    leaf.live = mask.live;
    leaf.until = mask.until;
    leaf.drawn = -1;
    if (mask.live == 0) state.leaves &= ~(uint64_t{1} << i);
  }

  const int32_t born = std::min(born_ - node * kNodeBlocks, kNodeBlocks);
  for (int32_t i = state.born / kLeafBlocks; i * kLeafBlocks < born && state.born < born; ++i) {
    if (tree_.is_leaf_dead(first_leaf + i, event_)) continue;
    const LiveMask mask = tree_.live_in(first_leaf + i, event_, node * kNodeBlocks + born);
    if (mask.live == 0) continue;
    leaves[i] = {.live = mask.live, .bytes = tree_.bytes_of(first_leaf + i, mask.live), .drawn_at = 0,
                 .until = mask.until, .drawn = -1};
    state.leaves |= uint64_t{1} << i;
  }
  state.born = born;

  state.bytes = 0;
  state.until = INT32_MAX;
  for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
    const Leaf& leaf = leaves[std::countr_zero(rest)];
    state.bytes += leaf.bytes;
    state.until = std::min(state.until, leaf.until);
  }
  state.changed = true;
  if (state.leaves == 0 && tree_.is_node_dead(node, event_)) ++dead_nodes_;
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
      const Leaf& known = scratch_.leaves[static_cast<size_t>(leaf)];
      const int32_t blocks = limit - leaf * kLeafBlocks;
      bytes += blocks >= kLeafBlocks ? known.bytes
                                     : tree_.bytes_of(leaf, known.live & ((uint64_t{1} << blocks) - 1));
    }
  }
  return bytes;
}

void StackSweep::draw(const RowThresholds& rows, std::span<uint32_t> pixels, std::span<const uint32_t> before) {
  ++column_;
  const int64_t* threshold = rows.threshold.data();
  int32_t row = rows.first;
  std::fill_n(pixels.data(), row, kNothing);
  int64_t offset = 0;
  for (const int32_t node : scratch_.active) {
    if (row == rows.count) break;
    Node& state = look_at(node);
    const int64_t end = offset + state.bytes;
    if (threshold[row] <= end) {
      const bool follows = !before.empty() && state.drawn == column_ - 1;
      if (follows && !state.changed && state.drawn_at == offset) {
        std::copy(before.begin() + row, before.begin() + state.rows_end, pixels.begin() + row);
        row = state.rows_end;
      } else {
        draw_leaves(node, offset, rows, pixels.data(), follows ? before.data() : nullptr, row);
        state.walked = column_;
        state.drawn_at = offset;
        state.rows_end = row;
        state.changed = false;
      }
      state.drawn = column_;
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
    Leaf& leaf = scratch_.leaves[static_cast<size_t>(index)];
    const int64_t end = offset + leaf.bytes;
    if (threshold[row] <= end) {
      if (before != nullptr && leaf.drawn == state.walked && leaf.drawn_at == offset) {
        for (; threshold[row] <= end; ++row) pixels[row] = before[row];
      } else {
        draw_blocks(index, leaf.live, offset, rows, pixels, row);
        leaf.drawn_at = offset;
      }
      leaf.drawn = column_;
    }
    offset = end;
  }
}

void StackSweep::draw_blocks(int32_t leaf, uint64_t live, int64_t offset, const RowThresholds& rows, uint32_t* pixels,
                             int32_t& row) const {
  const int64_t* threshold = rows.threshold.data();
  for (; live != 0; live &= live - 1) {
    const int32_t block = leaf * kLeafBlocks + std::countr_zero(live);
    const int64_t size = tree_.size(block);
    offset += size;
    if (threshold[row] > offset) continue;
    const uint32_t id = static_cast<uint32_t>(block) | (size < rows.merged_below ? kMergedBit : 0);
    do {
      pixels[row++] = id;
    } while (threshold[row] <= offset);
  }
}

}  // namespace memstrata::replay
