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

constexpr double kLargestRowWithMean = 0x1p47;  // see Light

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
  return leaves.resize(leaf_count, Leaf{}) && leaf_bytes.resize(leaf_count, 0) &&
         leaf_light.resize(leaf_count, Light{}) && leaf_until.resize(leaf_count, 0) &&
         nodes.resize(node_count, Node{}) && active.reserve(node_count);
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
    scratch_.nodes[static_cast<size_t>(next_node_)] = {.leaves = 0,
                                                       .bytes = 0,
                                                       .drawn_at = kNotDrawn,
                                                       .rows_end = 0,
                                                       .until = INT32_MAX,
                                                       .light = {},
                                                       .born = 0};
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
    scratch_.leaf_bytes[static_cast<size_t>(index)] -= ended.bytes;
    scratch_.leaf_light[static_cast<size_t>(index)] -= ended.light;
    scratch_.leaf_until[static_cast<size_t>(index)] = mask.until;
    state.bytes -= ended.bytes;
    state.light -= ended.light;
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
    Light& light = scratch_.leaf_light[static_cast<size_t>(index)];
    if ((state.leaves & bit) != 0) {
      state.bytes -= bytes;
      state.light -= light;
    }
    const Weight weight = weight_of(index, mask.live);
    bytes = weight.bytes;
    light = weight.light;
    state.bytes += bytes;
    state.light += light;
    state.leaves |= bit;
    scratch_.leaf_until[static_cast<size_t>(index)] = mask.until;
    scratch_.leaves[static_cast<size_t>(index)] = {.live = mask.live, .drawn_at = kNotDrawn};
  }
  state.born = born;
}

Weight StackSweep::weight_of(int32_t leaf, uint64_t mask) const {
  if (colours_ == nullptr) return {tree_.bytes_of(leaf, mask), {}};
  Weight weight;
  for (; mask != 0; mask &= mask - 1) {
    const int32_t block = leaf * kLeafBlocks + std::countr_zero(mask);
    const int64_t size = tree_.size(block);
    weight.bytes += size;
    colours_->add(weight.light, static_cast<uint32_t>(block), static_cast<uint64_t>(size));
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
    const int64_t end = offset + scratch_.leaf_bytes[static_cast<size_t>(index)];
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

// The light below one height after another, from the bottom up.
class StackSweep::LightBelow {
 public:
  explicit LightBelow(StackSweep& sweep) : sweep_(sweep), colours_(*sweep.colours_) {}

  // Heights must not decrease. `next`: the one after this, for choosing the shorter way; INT64_MAX is always
  // right. Where the stack ends below `height`, its whole light.
  [[nodiscard]] Light at(int64_t height, int64_t next) {
    while (true) {
      if (blocks_ != 0) {
        if (walk_blocks(height)) return with_part(height);
      } else if (leaves_ != 0) {
        if (step_leaf(height, next)) return below_;
      } else if (node_ < sweep_.scratch_.active.size()) {
        const int32_t node = sweep_.scratch_.active[node_++];
        const Node& state = sweep_.look_at(node);
        if (offset_ + state.bytes > height) {
          first_leaf_ = node * kNodeLeaves;
          leaves_ = state.leaves;
        } else {
          offset_ += state.bytes;
          light_ += state.light;
        }
      } else {
        reached_ = offset_;
        return light_;
      }
    }
  }
  // The last height, or the top of the stack if that is lower.
  [[nodiscard]] int64_t reached() const { return reached_; }

 private:
  [[nodiscard]] int32_t lowest_block() const { return leaf_ * kLeafBlocks + std::countr_zero(blocks_); }

  // True if the lowest block of those left goes beyond `height`.
  [[nodiscard]] bool walk_blocks(int64_t height) {
    for (; blocks_ != 0; blocks_ &= blocks_ - 1) {
      const int64_t size = sweep_.tree_.size(lowest_block());
      if (offset_ + size > height) return true;
      colours_.add(light_, static_cast<uint32_t>(lowest_block()), static_cast<uint64_t>(size));
      offset_ += size;
    }
    return false;
  }
  [[nodiscard]] Light with_part(int64_t height) {
    reached_ = height;
    Light light = light_;
    colours_.add(light, static_cast<uint32_t>(lowest_block()), static_cast<uint64_t>(height - offset_));
    return light;
  }

  // Goes past a leaf or into it. True if `below_` is the answer already: no other height lies in this leaf
  // and the way down from its top is the shorter one.
  [[nodiscard]] bool step_leaf(int64_t height, int64_t next) {
    leaf_ = first_leaf_ + std::countr_zero(leaves_);
    leaves_ &= leaves_ - 1;
    const auto at = static_cast<size_t>(leaf_);
    const int64_t end = offset_ + sweep_.scratch_.leaf_bytes[at];
    const uint64_t live = sweep_.scratch_.leaves[at].live;
    if (end > height && (next < end || height - offset_ <= end - height)) {
      blocks_ = live;
      return false;
    }
    offset_ = end;
    light_ += sweep_.scratch_.leaf_light[at];
    if (end <= height) return false;
    reached_ = height;
    below_ = light_;
    int64_t above = end - height;  // bytes still to take away
    for (uint64_t rest = live; above > 0;) {
      const int top = 63 - std::countl_zero(rest);
      rest &= ~(uint64_t{1} << top);
      const int32_t block = leaf_ * kLeafBlocks + top;
      const int64_t bytes = std::min(sweep_.tree_.size(block), above);
      Light part;
      colours_.add(part, static_cast<uint32_t>(block), static_cast<uint64_t>(bytes));
      below_ -= part;
      above -= bytes;
    }
    return true;
  }

  StackSweep& sweep_;
  const BandColours& colours_;
  // All that was passed, up to a border of blocks.
  int64_t offset_ = 0;
  Light light_;
  size_t node_ = 0;         // next of the active ones
  int32_t first_leaf_ = 0;  // of the node that is open
  uint64_t leaves_ = 0;     // of that, those still to come
  int32_t leaf_ = 0;        // open if blocks are left
  uint64_t blocks_ = 0;
  Light below_;
  int64_t reached_ = 0;
};

void StackSweep::add_means(const RowThresholds& rows, int32_t rows_end, uint32_t* pixels) {
  LightBelow below(*this);
  const int64_t* edge = rows.edge.data();
  int32_t known = -1;  // the row whose upper edge was looked up last
  Light upper;
  for (int32_t row = rows.first; row < rows_end; ++row) {
    if (pixels[row] != kMeanWanted) continue;
    const Light lower = known >= 0 && known == row - 1 ? upper : below.at(edge[row], edge[row + 1]);
    // The next edge asked for is not below that of the row above.
    upper = below.at(edge[row + 1], row + 2 <= rows.count ? edge[row + 2] : INT64_MAX);
    known = row;
    const int64_t covered = below.reached() - edge[row];
    pixels[row] = kMeanBits | BandColours::mean(upper - lower, static_cast<uint64_t>(covered));
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
