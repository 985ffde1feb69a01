#include "engine/replay/stack_sweep.h"

#include <algorithm>
#include <array>
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

constexpr double kLargestRowWithMean = 0x1p47;  // see Weight

}  // namespace

RowThresholds::RowThresholds(const RowGrid& rows) : count(std::max(rows.count, 0)) {
  threshold.assign(static_cast<size_t>(count) + 1, INT64_MAX);
  edge.assign(static_cast<size_t>(count) + 1, 0);
  const bool sensible =
      std::isfinite(rows.bottom) && std::isfinite(rows.bytes_per_row) && rows.bytes_per_row > 0;
  if (!sensible) return;
  for (int32_t r = 0; r < count; ++r) {
    threshold[static_cast<size_t>(r)] = whole_above(rows.bottom + (r + 0.5) * rows.bytes_per_row);
  }
  for (int32_t r = 0; r <= count; ++r) {
    const int64_t above = whole_above(rows.bottom + r * rows.bytes_per_row);
    edge[static_cast<size_t>(r)] = above == INT64_MAX ? above : std::max(above - 1, int64_t{0});
  }
  has_means = rows.bytes_per_row <= kLargestRowWithMean;
  while (first < count && threshold[static_cast<size_t>(first)] <= 0) ++first;
  merged_below =
      rows.bytes_per_row < 0x1p62 ? static_cast<int64_t>(std::ceil(rows.bytes_per_row)) : INT64_MAX;
}

bool StackSweep::Scratch::reserve(const StackTree& tree) {
  const auto node_count = static_cast<size_t>(tree.node_count());
  const size_t leaf_count = node_count * kNodeLeaves;
  return leaves.resize(leaf_count, Leaf{}) && leaf_weight.resize(leaf_count, Weight{}) &&
         leaf_until.resize(leaf_count, 0) && nodes.resize(node_count, Node{}) && active.reserve(node_count);
}

StackSweep::StackSweep(const StackTree& tree, Scratch& scratch, const BandColours* colours)
    : tree_(tree), scratch_(scratch), colours_(colours) {
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
        .leaves = 0, .weight = {}, .drawn_at = kNotDrawn, .rows_end = 0, .until = INT32_MAX, .born = 0};
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
    const Weight ended = weight_of(index, leaf.live & ~mask.live);
    scratch_.leaf_weight[static_cast<size_t>(index)] -= ended;
    scratch_.leaf_until[static_cast<size_t>(index)] = mask.until;
    state.weight -= ended;
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
    Weight& weight = scratch_.leaf_weight[static_cast<size_t>(index)];
    if ((state.leaves & bit) != 0) state.weight -= weight;
    weight = weight_of(index, mask.live);
    state.weight += weight;
    state.leaves |= bit;
    scratch_.leaf_until[static_cast<size_t>(index)] = mask.until;
    scratch_.leaves[static_cast<size_t>(index)] = {.live = mask.live, .drawn_at = kNotDrawn};
  }
  state.born = born;
}

Weight StackSweep::weight_of(int32_t leaf, uint64_t mask) const {
  if (colours_ == nullptr) return {.bytes = tree_.bytes_of(leaf, mask)};
  Weight weight;
  for (; mask != 0; mask &= mask - 1) {
    const int32_t block = leaf * kLeafBlocks + std::countr_zero(mask);
    weight += colours_->weight_of(static_cast<uint32_t>(block), tree_.size(block));
  }
  return weight;
}

int64_t StackSweep::bytes_below(int32_t rank) {
  const int32_t limit = std::min(rank, born_);
  int64_t bytes = 0;
  for (const int32_t node : scratch_.active) {
    if (node * kNodeBlocks >= limit) break;
    const Node& state = look_at(node);
    if ((node + 1) * kNodeBlocks <= limit) {
      bytes += state.weight.bytes;
      continue;
    }
    for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
      const int32_t leaf = node * kNodeLeaves + std::countr_zero(rest);
      if (leaf * kLeafBlocks >= limit) break;
      const int32_t blocks = limit - leaf * kLeafBlocks;
      const auto at = static_cast<size_t>(leaf);
      bytes += blocks >= kLeafBlocks
                   ? scratch_.leaf_weight[at].bytes
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
    const int64_t end = offset + state.weight.bytes;
    if (threshold[row] <= end) {
      const int32_t from = row;
      if (state.drawn_at == offset) {
        std::copy(before.begin() + row, before.begin() + state.rows_end, pixels.begin() + row);
        row = state.rows_end;
        renew_edges(rows, from, row, offset, end, pixels.data());
      } else if (colours_ != nullptr && tree_.largest_in_node(node) < rows.merged_below) {
        while (threshold[row] <= end) pixels[static_cast<size_t>(row++)] = kMeanWanted;
      } else {
        draw_leaves(node, offset, rows, pixels.data(), before.data(), row);
      }
      state.drawn_at = offset;
      state.rows_end = row;
    }
    offset = end;
  }
  if (colours_ != nullptr) add_means(rows, row, pixels.data());
  std::fill(pixels.begin() + row, pixels.end(), kNothing);
}

void StackSweep::draw_leaves(int32_t node, int64_t offset, const RowThresholds& rows, uint32_t* pixels,
                             const uint32_t* before, int32_t& row) {
  const int64_t* threshold = rows.threshold.data();
  const Node& state = scratch_.nodes[static_cast<size_t>(node)];
  for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
    const int32_t index = node * kNodeLeaves + std::countr_zero(rest);
    const int64_t end = offset + scratch_.leaf_weight[static_cast<size_t>(index)].bytes;
    if (threshold[row] <= end) {
      Leaf& leaf = scratch_.leaves[static_cast<size_t>(index)];
      if (leaf.drawn_at == offset) {
        const int32_t from = row;
        for (; threshold[row] <= end; ++row) pixels[row] = before[row];
        renew_edges(rows, from, row, offset, end, pixels);
      } else if (colours_ != nullptr && tree_.largest_in_leaf(index) < rows.merged_below) {
        while (threshold[row] <= end) pixels[row++] = kMeanWanted;
      } else {
        draw_blocks(index, offset, end, rows, pixels, row);
      }
      leaf.drawn_at = offset;
    }
    offset = end;
  }
}

void StackSweep::renew_edges(const RowThresholds& rows, int32_t from, int32_t to, int64_t offset, int64_t end,
                             uint32_t* pixels) const {
  if (colours_ == nullptr || from == to) return;
  if (is_mean(pixels[from]) && rows.edge[static_cast<size_t>(from)] < offset) pixels[from] = kMeanWanted;
  if (is_mean(pixels[to - 1]) && rows.edge[static_cast<size_t>(to)] > end) pixels[to - 1] = kMeanWanted;
}

// A height in the stack: `below` is what lies under the leaf that holds it, later under the height itself.
struct StackSweep::RowEdge {
  int64_t height;
  int32_t leaf;  // -1 = above the stack
  Weight below;
};

// The weight of the stack below one height after another, from the bottom up.
class StackSweep::WeightBelow {
 public:
  explicit WeightBelow(StackSweep& sweep) : sweep_(sweep), scratch_(sweep.scratch_) {}

  // Heights must not decrease.
  [[nodiscard]] RowEdge find(int64_t height) {
    while (leaves_ == 0 || !walk_leaves(height)) {
      if (!walk_nodes(height)) return {height, -1, below_};
    }
    const int32_t leaf = first_leaf_ + std::countr_zero(leaves_);
    sweep_.tree_.prefetch_sizes(leaf, is_nearer_to_top(leaf, height - below_.bytes));
    return {height, leaf, below_};
  }

  // From below the leaf to below the height, for neighbouring edges in ascending order.
  void finish(std::span<RowEdge> edges) const {
    for (size_t i = 0; i < edges.size();) {
      const int32_t leaf = edges[i].leaf;
      size_t end = i + 1;
      while (end < edges.size() && edges[end].leaf == leaf) ++end;
      if (leaf >= 0) {
        if (end == i + 1 && is_nearer_to_top(leaf, edges[i].height - edges[i].below.bytes))
          walk_down(edges[i]);
        else
          walk_up(edges.subspan(i, end - i));
      }
      i = end;
    }
  }

 private:
  [[nodiscard]] const Weight& weight_of_leaf(int32_t leaf) const {
    return scratch_.leaf_weight[static_cast<size_t>(leaf)];
  }
  [[nodiscard]] bool is_nearer_to_top(int32_t leaf, int64_t bytes) const {
    return weight_of_leaf(leaf).bytes - bytes < bytes;
  }
  [[nodiscard]] Weight weight_of(int32_t block, int64_t bytes) const {
    return sweep_.colours_->weight_of(static_cast<uint32_t>(block), bytes);
  }

  // To the first leaf of the node, or the first node, that goes beyond `height`; false if there is none.
  [[nodiscard]] bool walk_leaves(int64_t height) {
    Weight sum = below_;
    uint64_t rest = leaves_;
    const Weight* weights = scratch_.leaf_weight.data() + first_leaf_;
    for (; rest != 0; rest &= rest - 1) {
      const Weight& weight = weights[std::countr_zero(rest)];
      if (sum.bytes + weight.bytes > height) break;
      sum += weight;
    }
    below_ = sum;
    leaves_ = rest;
    return rest != 0;
  }
  [[nodiscard]] bool walk_nodes(int64_t height) {
    while (node_ < scratch_.active.size()) {
      const int32_t node = scratch_.active[node_++];
      const Node& state = sweep_.look_at(node);
      if (below_.bytes + state.weight.bytes > height) {
        first_leaf_ = node * kNodeLeaves;
        leaves_ = state.leaves;
        return true;
      }
      below_ += state.weight;
    }
    return false;
  }

  void walk_up(std::span<RowEdge> edges) const {
    const int32_t first = edges[0].leaf * kLeafBlocks;
    Weight sum = edges[0].below;
    uint64_t rest = scratch_.leaves[static_cast<size_t>(edges[0].leaf)].live;
    for (RowEdge& edge : edges) {
      for (;; rest &= rest - 1) {
        const int32_t block = first + std::countr_zero(rest);
        const int64_t size = sweep_.tree_.size(block);
        if (sum.bytes + size > edge.height) {
          edge.below = sum;
          edge.below += weight_of(block, edge.height - sum.bytes);
          break;
        }
        sum += weight_of(block, size);
      }
    }
  }
  void walk_down(RowEdge& edge) const {
    edge.below += weight_of_leaf(edge.leaf);
    uint64_t rest = scratch_.leaves[static_cast<size_t>(edge.leaf)].live;
    while (edge.below.bytes > edge.height) {
      const int top = 63 - std::countl_zero(rest);
      rest &= ~(uint64_t{1} << top);
      const int32_t block = edge.leaf * kLeafBlocks + top;
      edge.below -= weight_of(block, std::min(sweep_.tree_.size(block), edge.below.bytes - edge.height));
    }
  }

  StackSweep& sweep_;
  Scratch& scratch_;
  Weight below_;            // all that was passed, up to a border of leaves
  size_t node_ = 0;         // next of the active ones
  int32_t first_leaf_ = 0;  // of the node that is open
  uint64_t leaves_ = 0;     // of that, those still to come
};

void StackSweep::add_means(const RowThresholds& rows, int32_t rows_end, uint32_t* pixels) {
  constexpr int32_t group = 32;
  std::array<RowEdge, group + 1> edges;
  WeightBelow below(*this);
  const int64_t* edge = rows.edge.data();
  int32_t row = rows.first;
  while (true) {
    while (row < rows_end && pixels[row] != kMeanWanted) ++row;
    if (row >= rows_end) return;
    // Neighbouring rows share an edge.
    const int32_t first = row;
    size_t count = 0;
    edges[count++] = below.find(edge[row]);
    while (row < rows_end && pixels[row] == kMeanWanted && row - first < group) {
      edges[count++] = below.find(edge[++row]);
    }
    below.finish(std::span(edges).first(count));
    for (size_t i = 1; i < count; ++i) {
      pixels[first + static_cast<int32_t>(i) - 1] =
          kMeanBits | colours_->mean(edges[i].below - edges[i - 1].below);
    }
  }
}

void StackSweep::draw_blocks(int32_t leaf, int64_t offset, int64_t end, const RowThresholds& rows,
                             uint32_t* pixels, int32_t& row) const {
  const int64_t* threshold = rows.threshold.data();
  const auto pixel_of = [&](int32_t block) {
    const bool merged = tree_.size(block) < rows.merged_below;
    if (merged && colours_ != nullptr) return kMeanWanted;
    return static_cast<uint32_t>(block) | (merged ? kMergedBit : 0);
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
