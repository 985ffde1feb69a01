// The stack at one event after another, from left to right, and its pixels.
//
// Leaves and nodes of the StackTree keep what is live in them, how many bytes that is, and until which
// event it stays so; nothing is looked at again before then. A leaf or node that is unchanged and as high as
// in the column before is copied from there. Cost of a column: active nodes + leaves with a free or a birth
// since the last column + leaves that cover the centre of a row. The picture depends only on (event, rows),
// never on what was cached.
//
// Means come in a second pass over a column, bottom up: the light of a merged row is what lies below its
// upper edge less what lies below its lower one, and leaves and nodes know the sum of theirs. Where blocks of a group
// look alike it is enough to know where the groups end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/column.h"
#include "engine/replay/stack_tree.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

// Which bytes of the stack the rows of a picture ask for. Block [from, to) covers the centre of row r if
// from < threshold[r] <= to: offsets are whole bytes, so only the whole part of a centre counts.
struct RowThresholds {
  explicit RowThresholds(const RowGrid& rows);

  std::vector<int64_t> threshold;  // ascending; one more than rows, the last is INT64_MAX
  std::vector<int64_t> edge;       // row r is the bytes [edge[r], edge[r + 1]), none below 0
  int32_t count = 0;
  int32_t first = 0;         // rows below are under the stack
  int64_t merged_below = 0;  // blocks smaller than this are lower than a row
  bool has_means = false;    // rows are small enough for them
};

class StackSweep {
 public:
  // What is remembered per leaf and per node, kept between sweeps to spare the allocations.
  struct Leaf {
    Weight lower;  // of the lower half of its blocks
    uint64_t live;
    int64_t drawn_at;  // offset when last drawn, kNotDrawn = not since it changed
    int32_t drawn_in;  // column of that
  };
  struct Node {
    uint64_t leaves;  // with live blocks
    Weight weight;    // of what is live, as for leaves
    int64_t drawn_at;
    int32_t rows_end;         // row after its last one then
    int32_t drawn_in;         // column when last drawn, or copied
    int32_t leaves_drawn_in;  // when drawn leaf by leaf: as these have it that are copied with the node
    int32_t until;
  };
  struct Scratch {
    explicit Scratch(Budget& budget)
        : leaves(budget), leaf_weight(budget), leaf_until(budget), nodes(budget), active(budget) {}
    // False if the budget refuses.
    [[nodiscard]] bool reserve(const StackTree& tree);

    // Per leaf, 64 for every node. `until` (INT32_MAX = nothing live) is read for all 64 at once.
    Column<Leaf> leaves;
    Column<Weight> leaf_weight;  // light only if there are colours
    Column<int32_t> leaf_until;
    Column<Node> nodes;
    Column<int32_t> active;  // nodes, lowest first
  };

  // With `colours` merged rows get their means. `groups`: GroupedBands::first(), if they are stacked so.
  StackSweep(const StackTree& tree, Scratch& scratch, const BandColours* colours = nullptr,
             std::span<const int32_t> groups = {});

  // Events must not decrease.
  void move_to(int32_t event);
  // Bytes of live blocks of lower rank.
  [[nodiscard]] int64_t bytes_below(int32_t rank);
  // `pixels`: one column, rows.count. `before`: the column of the last call, of the same rows; not read by
  // the first one.
  void draw(const RowThresholds& rows, std::span<uint32_t> pixels, std::span<const uint32_t> before);

 private:
  struct RowEdge;
  class WeightBelow;
  static constexpr int64_t kNotDrawn = -1;
  static constexpr uint32_t kMeanWanted = kMeanBits | (kMeanMask + 1);  // until add_means() has passed

  void start_nodes();
  void drop_dead_nodes();
  // Brings a node up to the current event if something in it ended or was born.
  [[nodiscard]] Node& look_at(int32_t node);
  void refresh(int32_t node);
  void refresh_leaf(int32_t node, int i);
  [[nodiscard]] Weight weight_of(int32_t leaf, uint64_t mask) const;
  void draw_leaves(int32_t node, int64_t offset, const RowThresholds& rows, uint32_t* pixels,
                   const uint32_t* before, int32_t& row);
  // The leaf takes [offset, end) and covers the centre of `row`; goes on to the first row that it does not
  // cover.
  void draw_blocks(int32_t leaf, int64_t offset, int64_t end, const RowThresholds& rows, uint32_t* pixels,
                   int32_t& row) const;
  // Rows [from, to) were taken from the column before, for what is at [offset, end) now: the outer ones may
  // cover something else, too, that has changed.
  void renew_edges(const RowThresholds& rows, int32_t from, int32_t to, int64_t offset, int64_t end,
                   uint32_t* pixels) const;
  void add_means(const RowThresholds& rows, int32_t rows_end, uint32_t* pixels);
  // The same where blocks of a group look alike.
  void add_plain_means(const RowThresholds& rows, int32_t rows_end, uint32_t* pixels);

  const StackTree& tree_;
  Scratch& scratch_;
  const BandColours* colours_;
  std::span<const int32_t> groups_;  // as given; empty: blocks of a group differ, or there are no groups
  int32_t event_ = -1;
  int32_t column_ = 0;    // of draw(), counted
  size_t next_node_ = 0;  // of nodes_by_birth
  int32_t dead_nodes_ = 0;
};

}  // namespace gpustrata::replay
