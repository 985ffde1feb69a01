// Who asked for the memory of a moment or a range: calls as a tree, the data of a flame graph and of its table.
//
// A node is a path of frames; frames that are one line (function, file: frame_keys.h) are one. From the outermost
// call to the innermost, or inverted: from the frame that asked to its callers. Which frames there are:
//   own    the user's own code; of a stack without any the installed packages; without those who stands for it
//          (own_frame.h)
//   shown  all but those of the interpreter and of the C runtime (own_frame.h); of a stack without any all of them
//   all    all of them
// By file, calls within a file are one node. Blocks without a stack have a node of their own below the root.
//
// The width of a node is what it is drawn with: the weight of its blocks (stack_weights.h). Of a difference it is
// what grew and what shrank below it, taken per path: where one line holds 5 bytes less and another 7 more, the width is 12, 7 of
// them grown. So the children of a node and its own part add up to it, exactly, in every kind.
//
// O(bands + nodes of the stack table + nodes log nodes); inverted, or of own code, also the frames of the stacks
// that have weight (of a hostile stack the innermost kMostFrames).
#pragma once

#include <cstdint>
#include <span>

#include "engine/analysis/live/stack_weights.h"
#include "engine/analysis/stacks/frame_keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/status.h"
#include "engine/base/words.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(FramesOf, own, shown, all);

struct TreeAsked {
  WeightsAsked weights;
  FrameKey by = FrameKey::line;
  FramesOf frames = FramesOf::shown;
  bool inverted = false;
  bool only_matched = false;

  bool operator==(const TreeAsked&) const = default;
};

struct CallTree {
  explicit CallTree(Budget& budget) : nodes(budget), first_child(budget), child(budget) {}

  static constexpr int32_t kNoStack = -1;  // key of the blocks without a stack
  struct Node {
    int32_t parent = -1;  // lower than the node's own number; node 0 is the root
    int32_t key = -1;     // FrameId of find_frame_keys()
    double width = 0, grew = 0;
    double self = 0, self_grew = 0;  // of the blocks whose path ends here
    double lit = 0;                  // of width: what the filter means; not of a difference
    int64_t blocks = 0;              // of a difference those after `to` less those after `from`
    int64_t self_blocks = 0;
  };

  TreeAsked asked;
  Column<Node> nodes;
  Column<int32_t> first_child;  // per node, and one more: where its children begin
  Column<int32_t> child;        // widest first, then by key
  bool in_time = false;

  [[nodiscard]] const Node& root() const { return nodes[0]; }
  [[nodiscard]] std::span<const int32_t> children(int32_t node) const {
    return child.span().subspan(static_cast<size_t>(first_child[node]),
                                static_cast<size_t>(first_child[node + 1] - first_child[node]));
  }
  // A child by its key, -1 = it has none such.
  [[nodiscard]] int32_t child_with(int32_t node, int32_t key) const;
};

// `who` is of the same recording; null = it is found where a tree of own code needs it. Error: limit_exceeded.
[[nodiscard]] Result<CallTree> build_call_tree(const BandsAsked& of, const TreeAsked& asked,
                                               const WhoOfStacks* who = nullptr);
// The same of weights that are known, by node of the recording's stack table.
[[nodiscard]] Result<CallTree> build_call_tree(const model::Recording& recording, const TreeAsked& asked,
                                               StackWeights&& weights, const WhoOfStacks* who = nullptr);

}  // namespace gpustrata::analysis
