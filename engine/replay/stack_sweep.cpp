#include "engine/replay/stack_sweep.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gpustrata::replay {

namespace {

// The smallest whole number greater than `bytes`, within int64.
int64_t whole_above(double bytes) {
  if (!(bytes < 0x1p62)) return INT64_MAX;
  if (bytes < -0x1p62) return INT64_MIN;
  return static_cast<int64_t>(std::floor(bytes)) + 1;
}

constexpr double kLargestRowWithMean = 0x1p47;  // see Weight
constexpr uint64_t kLowerHalf = 0xFFFFFFFF;     // of the blocks of a leaf

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

StackSweep::StackSweep(const StackTree& tree, Scratch& scratch, const BandColours* colours,
                       std::span<const int32_t> groups)
    : tree_(tree), scratch_(scratch), colours_(colours) {
  scratch_.active.clear();
  if (colours != nullptr && colours->style().groups_are_plain) groups_ = groups;
}

void StackSweep::move_to(int32_t event) {
  event_ = event;
  start_nodes();
  drop_dead_nodes();
}

void StackSweep::start_nodes() {
  const std::span<const int32_t> order = tree_.nodes_by_birth();
  const std::span<const int32_t> leaf_first_born = tree_.leaf_first_born();
  Column<int32_t>& active = scratch_.active;
  for (; next_node_ < order.size() && tree_.node_first_born(order[next_node_]) <= event_; ++next_node_) {
    const int32_t node = order[next_node_];
    if (tree_.is_node_dead(node, event_)) continue;
    scratch_.nodes[static_cast<size_t>(node)] = {.leaves = 0,
                                                 .weight = {},
                                                 .drawn_at = kNotDrawn,
                                                 .rows_end = 0,
                                                 .drawn_in = 0,
                                                 .leaves_drawn_in = 0,
                                                 .until = tree_.node_first_born(node)};
    const auto first = static_cast<size_t>(node) * kNodeLeaves;
    const auto born =
        leaf_first_born.subspan(first, std::min(leaf_first_born.size() - first, size_t{kNodeLeaves}));
    int32_t* until = scratch_.leaf_until.data() + first;
    std::fill(std::copy(born.begin(), born.end(), until), until + kNodeLeaves, INT32_MAX);
    // There is room for every node. Mostly it is the highest so far.
    (void)active.push_back(node);
    for (size_t i = active.size() - 1; i > 0 && active[i - 1] > active[i]; --i)
      std::swap(active[i - 1], active[i]);
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
  if (state.until <= event_) refresh(node);
  return state;
}

void StackSweep::refresh(int32_t node) {
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  const int32_t* until = scratch_.leaf_until.data() + node * kNodeLeaves;
  uint64_t expired = ~live_mask_of_64(until, event_).live;
  for (; expired != 0; expired &= expired - 1) refresh_leaf(node, std::countr_zero(expired));
  state.until = live_mask_of_64(until, event_).until;
  state.drawn_at = kNotDrawn;
  if (state.leaves == 0 && tree_.is_node_dead(node, event_)) ++dead_nodes_;
}

void StackSweep::refresh_leaf(int32_t node, int i) {
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  const int32_t index = node * kNodeLeaves + i;
  const uint64_t bit = uint64_t{1} << i;
  const LiveMask mask = tree_.is_leaf_dead(index, event_) ? LiveMask{} : tree_.live_in(index, event_);
  scratch_.leaf_until[index] = mask.until;
  Leaf& leaf = scratch_.leaves[index];
  Weight& weight = scratch_.leaf_weight[index];
  // What a leaf without live blocks holds is from another sweep.
  const bool had_blocks = (state.leaves & bit) != 0;
  const uint64_t before = had_blocks ? leaf.live : 0;
  if (!had_blocks) weight = leaf.lower = {};
  if (const uint64_t ended = before & ~mask.live; ended != 0) {
    const Weight less_lower = weight_of(index, ended & kLowerHalf);
    const Weight less = less_lower + weight_of(index, ended & ~kLowerHalf);
    leaf.lower -= less_lower;
    weight -= less;
    state.weight -= less;
  }
  if (const uint64_t born = mask.live & ~before; born != 0) {
    const Weight more_lower = weight_of(index, born & kLowerHalf);
    const Weight more = more_lower + weight_of(index, born & ~kLowerHalf);
    leaf.lower += more_lower;
    weight += more;
    state.weight += more;
  }
  leaf.live = mask.live;
  leaf.drawn_at = kNotDrawn;
  state.leaves = mask.live != 0 ? state.leaves | bit : state.leaves & ~bit;
}

Weight StackSweep::weight_of(int32_t leaf, uint64_t mask) const {
  if (colours_ == nullptr || !groups_.empty()) return Weight(tree_.bytes_of(leaf, mask));
  Weight weight;
  for (; mask != 0; mask &= mask - 1) {
    const int32_t block = leaf * kLeafBlocks + std::countr_zero(mask);
    weight += colours_->weight_of(static_cast<uint32_t>(block), tree_.size(block));
  }
  return weight;
}

int64_t StackSweep::bytes_below(int32_t rank) {
  int64_t bytes = 0;
  for (const int32_t node : scratch_.active) {
    if (node * kNodeBlocks >= rank) break;
    const Node& state = look_at(node);
    if ((node + 1) * kNodeBlocks <= rank) {
      bytes += state.weight.bytes();
      continue;
    }
    for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
      const int32_t leaf = node * kNodeLeaves + std::countr_zero(rest);
      if (leaf * kLeafBlocks >= rank) break;
      const int32_t blocks = rank - leaf * kLeafBlocks;
      bytes += blocks >= kLeafBlocks
                   ? scratch_.leaf_weight[leaf].bytes()
                   : tree_.bytes_of(leaf, scratch_.leaves[leaf].live & ((uint64_t{1} << blocks) - 1));
    }
  }
  return bytes;
}

void StackSweep::draw(const RowThresholds& rows, std::span<uint32_t> pixels,
                      std::span<const uint32_t> before) {
  const int64_t* threshold = rows.threshold.data();
  int32_t row = rows.first;
  ++column_;
  std::fill_n(pixels.data(), row, kNothing);
  int64_t offset = 0;
  for (const int32_t node : scratch_.active) {
    if (row == rows.count) break;
    Node& state = look_at(node);
    const int64_t end = offset + state.weight.bytes();
    if (threshold[row] <= end) {
      const int32_t from = row;
      if (state.drawn_at == offset && state.drawn_in == column_ - 1) {
        std::copy(before.begin() + row, before.begin() + state.rows_end, pixels.begin() + row);
        row = state.rows_end;
        renew_edges(rows, from, row, offset, end, pixels.data());
      } else if (colours_ != nullptr && tree_.largest_in_node(node) < rows.merged_below) {
        while (threshold[row] <= end) pixels[static_cast<size_t>(row++)] = kMeanWanted;
      } else {
        draw_leaves(node, offset, rows, pixels.data(), before.data(), row);
      }
      state.drawn_at = offset;
      state.drawn_in = column_;
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
  Node& state = scratch_.nodes[static_cast<size_t>(node)];
  // What a leaf drawn then says of the column before, if the node is in that.
  const int32_t still_there = state.drawn_in == column_ - 1 ? state.leaves_drawn_in : 0;
  state.leaves_drawn_in = column_;
  for (uint64_t rest = state.leaves; rest != 0; rest &= rest - 1) {
    const int32_t index = node * kNodeLeaves + std::countr_zero(rest);
    const int64_t end = offset + scratch_.leaf_weight[index].bytes();
    if (threshold[row] <= end) {
      Leaf& leaf = scratch_.leaves[index];
      if (leaf.drawn_at == offset && leaf.drawn_in == still_there) {
        const int32_t from = row;
        for (; threshold[row] <= end; ++row) pixels[row] = before[row];
        renew_edges(rows, from, row, offset, end, pixels);
      } else if (colours_ != nullptr && tree_.largest_in_leaf(index) < rows.merged_below) {
        while (threshold[row] <= end) pixels[row++] = kMeanWanted;
      } else {
        draw_blocks(index, offset, end, rows, pixels, row);
      }
      leaf.drawn_at = offset;
      leaf.drawn_in = column_;
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
    sweep_.tree_.prefetch_sizes(leaf, leaf_at(leaf).lower.bytes() <= height - below_.bytes());
    return {height, leaf, below_};
  }

  // From below the leaf to below the height, for edges in ascending order.
  void finish(std::span<RowEdge> edges) const {
    Place from;
    int32_t leaf = -1;
    for (RowEdge& edge : edges) {
      if (edge.leaf < 0) return;
      const uint64_t live = leaf_at(edge.leaf).live;
      const Weight middle = edge.below + leaf_at(edge.leaf).lower;
      const bool is_upper = edge.height >= middle.bytes();
      if (edge.leaf != leaf) from = {edge.below, live};
      leaf = edge.leaf;
      if (is_upper && from.below.bytes() < middle.bytes()) from = {middle, live & ~kLowerHalf};
      const Weight top = is_upper ? edge.below + leaf_weight(leaf) : middle;
      if (top.bytes() - edge.height < edge.height - from.below.bytes())
        edge.below = walk_down(edge, top, is_upper ? live : live & kLowerHalf);
      else
        edge.below = walk_up(edge, from);
    }
  }

 private:
  // A border of blocks in a leaf, and the live blocks above it.
  struct Place {
    Weight below;
    uint64_t above = 0;
  };

  [[nodiscard]] const Weight& leaf_weight(int32_t leaf) const { return scratch_.leaf_weight[leaf]; }
  [[nodiscard]] const Leaf& leaf_at(int32_t leaf) const { return scratch_.leaves[leaf]; }
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
      if (sum.bytes() + weight.bytes() > height) break;
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
      if (below_.bytes() + state.weight.bytes() > height) {
        first_leaf_ = node * kNodeLeaves;
        leaves_ = state.leaves;
        return true;
      }
      below_ += state.weight;
    }
    return false;
  }

  // Goes on with `from` to the block that the edge cuts.
  [[nodiscard]] Weight walk_up(const RowEdge& edge, Place& from) const {
    for (int64_t bytes = from.below.bytes();; from.above &= from.above - 1) {
      const int32_t block = edge.leaf * kLeafBlocks + std::countr_zero(from.above);
      const int64_t size = sweep_.tree_.size(block);
      if (bytes + size > edge.height) return from.below + weight_of(block, edge.height - bytes);
      from.below += weight_of(block, size);
      bytes += size;
    }
  }
  // From the top of the blocks `below`.
  [[nodiscard]] Weight walk_down(const RowEdge& edge, Weight top, uint64_t below) const {
    for (int64_t bytes = top.bytes(); bytes > edge.height;) {
      const int highest = 63 - std::countl_zero(below);
      below &= ~(uint64_t{1} << highest);
      const int32_t block = edge.leaf * kLeafBlocks + highest;
      const int64_t size = std::min(sweep_.tree_.size(block), bytes - edge.height);
      top -= weight_of(block, size);
      bytes -= size;
    }
    return top;
  }

  StackSweep& sweep_;
  Scratch& scratch_;
  Weight below_;            // all that was passed, up to a border of leaves
  size_t node_ = 0;         // next of the active ones
  int32_t first_leaf_ = 0;  // of the node that is open
  uint64_t leaves_ = 0;     // of that, those still to come
};

void StackSweep::add_means(const RowThresholds& rows, int32_t rows_end, uint32_t* pixels) {
  if (!groups_.empty()) return add_plain_means(rows, rows_end, pixels);
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

void StackSweep::add_plain_means(const RowThresholds& rows, int32_t rows_end, uint32_t* pixels) {
  size_t group = 0;
  int64_t top = 0;  // of the group, at first of none
  Light light;
  uint32_t mean = 0;
  const auto next = [&] {
    light = colours_->light_of(static_cast<uint32_t>(groups_[group]));
    mean = kMeanBits | colours_->mean({light, 1});
    top = bytes_below(groups_[++group]);
  };
  for (int32_t row = rows.first; row < rows_end; ++row) {
    if (pixels[row] != kMeanWanted) continue;
    int64_t from = rows.edge[static_cast<size_t>(row)];
    const int64_t end = rows.edge[static_cast<size_t>(row) + 1];
    while (top <= from) next();  // the row covers a block, so there is one
    pixels[row] = mean;
    if (top >= end) continue;
    Weight sum;
    while (true) {
      const int64_t part = std::min(top, end);
      sum += Weight(light, part - from);
      from = part;
      if (from == end || group + 1 == groups_.size()) break;
      next();
    }
    pixels[row] = kMeanBits | colours_->mean(sum);
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
  uint64_t live = scratch_.leaves[leaf].live;
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

}  // namespace gpustrata::replay
