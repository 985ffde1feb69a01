#include "engine/analysis/calls/call_tree.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/hash.h"

namespace gpustrata::analysis {

namespace {

constexpr int32_t kRoot = 0, kNone = -1;

// What there is of a stack, the first that it has.
enum Kept : uint8_t { kNothing, kPackage, kWanted };

class Building {
 public:
  Building(const model::Recording& recording, const TreeAsked& asked, const StackWeights& weights,
           const WhoOfStacks* who, CallTree& tree)
      : recording_(recording), who_(who), asked_(asked), tree_(tree), weights_(weights) {}

  [[nodiscard]] bool run() {
    if (!find_frame_keys(recording_, asked_.by, keys_) || !table_.resize(kFirstTable, kNone) ||
        !tree_.nodes.push_back({}) || !own_.push_back({}) || !sort_frames())
      return false;
    tree_.in_time = weights_.in_time;
    if (!(asked_.inverted ? add_inverted() : add_forward())) return false;
    if (has_weight(weights_.without)) {
      const int32_t node = child(kRoot, CallTree::kNoStack);
      if (node < 0) return false;
      own_[node].add(weights_.without);
    }
    sum_up();
    return order_children();
  }

 private:
  static constexpr size_t kFirstTable = 1024;

  [[nodiscard]] static bool has_weight(const StackWeight& weight) {
    return weight.blocks + weight.blocks_before > 0;
  }

  // Which frames are wanted, and for every node of the stack table the best of its frames.
  [[nodiscard]] bool sort_frames() {
    const size_t nodes = recording_.stacks.node_count();
    if (!kept_.resize(recording_.frames.size(), kWanted) || !best_.resize(nodes, kNothing)) return false;
    for (size_t i = 0; i < kept_.size() && asked_.frames != FramesOf::all; ++i) {
      const Origin origin = origin_of(recording_, FrameId{i});
      if (asked_.frames == FramesOf::shown)
        kept_[i] = origin == Origin::interpreter ? kNothing : kWanted;
      else
        kept_[i] = origin == Origin::own ? kWanted : origin == Origin::package ? kPackage : kNothing;
    }
    for (size_t i = 0; i < nodes; ++i) {  // callers have lower numbers
      const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
      best_[i] =
          std::max(kept_[node.frame.index()], node.caller < 0 ? uint8_t{kNothing} : best_[node.caller]);
    }
    return true;
  }

  // -1 = no memory.
  [[nodiscard]] int32_t child(int32_t parent, int32_t key) {
    if (key >= 0 && asked_.by == FrameKey::file && parent != kRoot && tree_.nodes[parent].key == key)
      return parent;
    const size_t mask = table_.size() - 1;
    size_t slot = slot_of(parent, key, mask);
    for (; table_[slot] >= 0; slot = (slot + 1) & mask) {
      const CallTree::Node& node = tree_.nodes[table_[slot]];
      if (node.parent == parent && node.key == key) return table_[slot];
    }
    const auto made = static_cast<int32_t>(tree_.nodes.size());
    CallTree::Node node;
    node.parent = parent;
    node.key = key;
    if (!tree_.nodes.push_back(node) || !own_.push_back({})) return kNone;
    table_[slot] = made;
    return tree_.nodes.size() * 2 < table_.size() || grow_table() ? made : kNone;
  }
  [[nodiscard]] static size_t slot_of(int32_t parent, int32_t key, size_t mask) {
    const uint64_t both =
        static_cast<uint64_t>(static_cast<uint32_t>(parent)) << 32 | static_cast<uint32_t>(key);
    return mix_hash(both) & mask;
  }
  [[nodiscard]] bool grow_table() {
    Column<int32_t> larger(recording_.budget);
    if (!larger.resize(table_.size() * 2, kNone)) return false;
    const size_t mask = larger.size() - 1;
    for (size_t i = 1; i < tree_.nodes.size(); ++i) {
      size_t slot = slot_of(tree_.nodes[i].parent, tree_.nodes[i].key, mask);
      while (larger[slot] >= 0) slot = (slot + 1) & mask;
      larger[slot] = static_cast<int32_t>(i);
    }
    table_ = std::move(larger);
    return true;
  }

  // Wanted frames only: as the stack table itself, callers first.
  [[nodiscard]] bool add_forward() {
    const size_t nodes = recording_.stacks.node_count();
    Column<uint8_t> used(recording_.budget);
    if (!used.resize(nodes, 0) || !merged_.resize(nodes, kRoot)) return false;
    for (size_t i = nodes; i-- > 0;) {
      const bool whole = has_weight(weights_.of_node[i]) && best_[i] == kWanted;
      if (!whole && used[i] == 0) continue;
      used[i] = 1;
      const int32_t caller = recording_.stacks.node(static_cast<int32_t>(i)).caller;
      if (caller >= 0) used[caller] = 1;
    }
    for (size_t i = 0; i < nodes; ++i) {
      const trace::StackTable::Node& node = recording_.stacks.node(static_cast<int32_t>(i));
      if (used[i] != 0) {
        const int32_t parent = node.caller < 0 ? kRoot : merged_[node.caller];
        merged_[i] = kept_[node.frame.index()] == kWanted ? child(parent, keys_[node.frame.index()]) : parent;
        if (merged_[i] < 0) return false;
      }
      if (!has_weight(weights_.of_node[i])) continue;
      if (best_[i] == kWanted) {
        own_[merged_[i]].add(weights_.of_node[i]);
      } else if (!add_path(static_cast<int32_t>(i))) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool add_inverted() {
    for (size_t i = 0; i < recording_.stacks.node_count(); ++i) {
      if (has_weight(weights_.of_node[i]) && !add_path(static_cast<int32_t>(i))) return false;
    }
    return true;
  }

  // One stack, from its innermost node, frame by frame.
  [[nodiscard]] bool add_path(int32_t leaf) {
    path_.clear();
    const uint8_t wanted = best_[leaf];
    if (wanted == kNothing && asked_.frames == FramesOf::own) {
      if (!push_who(leaf)) return false;
    } else {
      size_t seen = 0;
      for (int32_t i = leaf; i >= 0 && seen < kMostFrames; i = recording_.stacks.node(i).caller, ++seen) {
        const FrameId frame = recording_.stacks.node(i).frame;
        if (kept_[frame.index()] == wanted && !path_.push_back(keys_[frame.index()])) return false;
      }
    }
    int32_t node = kRoot;
    const size_t count = path_.size();
    for (size_t i = 0; i < count && node >= 0; ++i)
      node = child(node, path_[asked_.inverted ? i : count - 1 - i]);
    if (node < 0) return false;
    own_[node].add(weights_.of_node[leaf]);
    return true;
  }
  [[nodiscard]] bool push_who(int32_t leaf) {
    if (who_ == nullptr) {
      who_ = &own_who_.emplace(recording_);
      if (!own_who_->prepare()) return false;
    }
    const FrameId frame = who_->frame_of_node(leaf);
    return frame.is_none() || path_.push_back(keys_[frame.index()]);
  }

  void sum_up() {
    const bool differs = asked_.weights.of == BlocksOf::difference;
    for (size_t i = tree_.nodes.size(); i-- > 0;) {
      CallTree::Node& node = tree_.nodes[i];
      const StackWeight& own = own_[i];
      node.self = differs ? std::abs(own.weight - own.before) : own.weight;
      node.self_grew = differs ? std::max(own.weight - own.before, 0.0) : 0;
      node.self_blocks = own.blocks - own.blocks_before;
      node.width += node.self;
      node.grew += node.self_grew;
      node.blocks += node.self_blocks;
      node.lit += differs ? 0 : own.lit;
      if (i == 0) break;
      CallTree::Node& parent = tree_.nodes[node.parent];
      parent.width += node.width;
      parent.grew += node.grew;
      parent.blocks += node.blocks;
      parent.lit += node.lit;
    }
  }

  [[nodiscard]] bool order_children() {
    const size_t count = tree_.nodes.size();
    if (!tree_.first_child.resize(count + 1, 0) || !tree_.child.resize(count - 1, 0)) return false;
    for (size_t i = 1; i < count; ++i) ++tree_.first_child[tree_.nodes[i].parent + 1];
    for (size_t i = 0; i < count; ++i) tree_.first_child[i + 1] += tree_.first_child[i];
    Column<int32_t> next(recording_.budget);
    if (!next.append(tree_.first_child.span())) return false;
    for (size_t i = 1; i < count; ++i) tree_.child[next[tree_.nodes[i].parent]++] = static_cast<int32_t>(i);
    for (size_t i = 0; i < count; ++i) {
      int32_t* const begin = tree_.child.data() + tree_.first_child[i];
      std::sort(begin, tree_.child.data() + tree_.first_child[i + 1], [&](int32_t a, int32_t b) {
        const CallTree::Node &left = tree_.nodes[a], &right = tree_.nodes[b];
        return left.width != right.width ? left.width > right.width : left.key < right.key;
      });
    }
    return true;
  }

  const model::Recording& recording_;
  const WhoOfStacks* who_;  // null: not needed so far, then own_who_
  std::optional<WhoOfStacks> own_who_;
  const TreeAsked& asked_;
  CallTree& tree_;
  const StackWeights& weights_;
  Column<int32_t> keys_{recording_.budget};
  Column<uint8_t> kept_{recording_.budget},
      best_{recording_.budget};                 // per frame; per node of the stack table
  Column<int32_t> table_{recording_.budget};    // (parent, key) -> node
  Column<int32_t> merged_{recording_.budget};   // per node of the stack table: node
  Column<int32_t> path_{recording_.budget};     // of add_path(): keys, innermost first
  Column<StackWeight> own_{recording_.budget};  // per node
};

}  // namespace

int32_t CallTree::child_with(int32_t node, int32_t key) const {
  for (const int32_t one : children(node)) {
    if (nodes[one].key == key) return one;
  }
  return -1;
}

Result<CallTree> build_call_tree(const BandsAsked& of, const TreeAsked& asked, const WhoOfStacks* who) {
  StackWeights weights(of.recording.budget);
  if (!find_stack_weights(of, asked.weights, weights))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the calls of {} blocks.",
                of.bands.count());
  return build_call_tree(of.recording, asked, std::move(weights), who);
}

Result<CallTree> build_call_tree(const model::Recording& recording, const TreeAsked& asked,
                                 StackWeights&& weights, const WhoOfStacks* who) {
  CallTree tree(recording.budget);
  tree.asked = asked;
  if (!Building(recording, asked, weights, who, tree).run())
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory for the calls of {} stacks.",
                recording.stacks.node_count());
  return tree;
}

}  // namespace gpustrata::analysis
