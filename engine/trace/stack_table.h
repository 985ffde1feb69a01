// Frames and stacks, interned by content.
//
// A stack is a path in a tree whose root is the outermost call: node = (frame, caller node). Real files
// share most of their outer frames, so this is 1.5 to 6 times smaller than flat lists. Frames of a file
// run innermost first, and so does walking from a stack to its root.
// Complexity: interning a list is O(length); a list that is already known allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/ids.h"

namespace gpustrata::trace {

// Lines as in the file: <= 0 is "unknown" (0, -1; 2^64-1 arrives as -1).
struct Frame {
  StringId name;
  StringId filename;
  int32_t line = 0;
  int32_t fx = -1;  // row of FrameTable::fx, -1 = no FX graph data

  bool operator==(const Frame&) const = default;
};

// Additions of an in-process FX dump; fields that are absent are none.
struct FxNode {
  StringId op, name, target, original_trace;

  bool operator==(const FxNode&) const = default;
};

class FrameTable {
 public:
  explicit FrameTable(Budget& budget) : budget_(&budget), frames_(budget), fx_(budget), table_(budget) {}

  // None if the budget refuses.
  [[nodiscard]] FrameId intern(Frame frame);
  [[nodiscard]] FrameId intern(Frame frame, const FxNode& fx);
  [[nodiscard]] const Frame& operator[](FrameId id) const { return frames_[id.index()]; }
  [[nodiscard]] const FxNode& fx_of(const Frame& frame) const { return fx_[frame.fx]; }
  [[nodiscard]] size_t size() const { return frames_.size(); }
  // The same frames under the same ids; the ids of texts are taken as they are. Must be empty. False if the
  // budget refuses; then it is of no use.
  [[nodiscard]] bool copy_from(const FrameTable& other);

 private:
  [[nodiscard]] FrameId intern(Frame frame, const FxNode* fx);

  Budget* budget_;
  Column<Frame> frames_;
  Column<FxNode> fx_;
  Column<int32_t> table_;
};

class StackTable {
 public:
  explicit StackTable(Budget& budget);

  // `frames` innermost first; an empty list is a stack of its own. None if the budget
  // refuses.
  [[nodiscard]] StackId intern(std::span<const FrameId> frames);
  [[nodiscard]] size_t size() const {
    return stacks_.size();
  }  // distinct stacks, the empty one included once seen

  struct Node {
    FrameId frame;
    int32_t caller;  // node index, -1 = outermost
  };
  // Node of the innermost frame, -1 for an empty stack.
  [[nodiscard]] int32_t leaf(StackId stack) const { return stacks_[stack.index()].leaf; }
  [[nodiscard]] const Node& node(int32_t index) const { return nodes_[index]; }
  // For who has a tree already: its caller must be a node of this table, or -1. -1 if the budget refuses.
  [[nodiscard]] int32_t intern_node(Node node);
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_.span(); }
  [[nodiscard]] size_t node_count() const { return nodes_.size(); }
  // As FrameTable::copy_from.
  [[nodiscard]] bool copy_from(const StackTable& other);
  // Frames innermost first.
  [[nodiscard]] std::vector<FrameId> frames_of(StackId stack) const;

 private:
  struct Stack {
    int32_t leaf;
    uint32_t hash;
  };
  [[nodiscard]] bool equals(StackId stack, std::span<const FrameId> frames) const;
  Budget* budget_;
  Column<Node> nodes_;
  Column<Stack> stacks_;
  Column<int32_t> node_table_;   // (frame, caller) -> node
  Column<int32_t> stack_table_;  // list hash -> stack
};

}  // namespace gpustrata::trace
