#include "engine/analysis/calls/carried_calls.h"

#include <algorithm>
#include <utility>

#include "engine/analysis/stacks/frame_filter.h"

namespace gpustrata::analysis {

namespace {

class CallsToCarry {
 public:
  CallsToCarry(const model::Recording& recording, const StackWeights& weights, size_t most,
               CarriedCalls& calls)
      : recording_(recording), weights_(weights), most_(most), calls_(calls) {}

  [[nodiscard]] bool run() {
    calls_.without = weights_.without.weight;
    calls_.without_blocks = weights_.without.blocks;
    const size_t nodes = recording_.stacks.node_count();
    Column<int32_t> leaves(recording_.budget);
    for (size_t i = 0; i < nodes; ++i) {
      if (weights_.of_node[i].blocks > 0 && !leaves.push_back(static_cast<int32_t>(i))) return false;
    }
    std::sort(leaves.data(), leaves.data() + leaves.size(), [&](int32_t a, int32_t b) {
      const double left = weights_.of_node[a].weight, right = weights_.of_node[b].weight;
      return left != right ? left > right : a < b;
    });
    if (!text_of_.resize(recording_.strings.size() + 1, -1) ||
        !frame_of_.resize(recording_.frames.size(), -1) || !node_of_.resize(nodes, -1))
      return false;
    for (const int32_t leaf : leaves) {
      if (!add(leaf)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool add(int32_t leaf) {
    const StackWeight& weight = weights_.of_node[leaf];
    path_.clear();
    for (int32_t i = leaf; i >= 0 && node_of_[i] < 0; i = recording_.stacks.node(i).caller) {
      if (!path_.push_back(i)) return false;
    }
    // At most a frame with two texts for each node.
    if (told_ + path_.size() * 9 > most_) {
      calls_.rest += weight.weight;
      calls_.rest_blocks += weight.blocks;
      return true;
    }
    for (size_t i = path_.size(); i-- > 0;) {  // outermost first
      const trace::StackTable::Node& node = recording_.stacks.node(path_[i]);
      const int32_t frame = frame_number(node.frame);
      const int32_t caller = node.caller < 0 ? -1 : node_of_[node.caller];
      node_of_[path_[i]] = static_cast<int32_t>(calls_.nodes.size());
      if (frame < 0 || !calls_.nodes.push_back({frame, caller, 0, 0})) return false;
      told_ += 4;
    }
    CarriedCalls::Node& own = calls_.nodes[node_of_[leaf]];
    own.weight += weight.weight;
    own.blocks += weight.blocks;
    return true;
  }

  // -1 = no memory.
  [[nodiscard]] int32_t frame_number(FrameId id) {
    int32_t& known = frame_of_[id.index()];
    if (known < 0) {
      const trace::Frame& frame = recording_.frames[id];
      known = static_cast<int32_t>(calls_.frames.size());
      if (!calls_.frames.push_back(
              {text_number(frame.name), text_number(frame.filename), std::max(frame.line, 0)}))
        return -1;
      told_ += 3;
    }
    return known;
  }
  [[nodiscard]] int32_t text_number(StringId id) {
    int32_t& known = text_of_[id.is_none() ? recording_.strings.size() : id.index()];
    if (known < 0) {
      known = static_cast<int32_t>(calls_.texts.size());
      calls_.texts.emplace_back(recording_.strings.view(id).substr(0, kLongestName));
      ++told_;
    }
    return known;
  }

  const model::Recording& recording_;
  const StackWeights& weights_;
  size_t most_, told_ = 0;
  CarriedCalls& calls_;
  Column<int32_t> text_of_{recording_.budget}, frame_of_{recording_.budget},
      node_of_{recording_.budget};  // numbers in the calls, -1 = not told
  Column<int32_t> path_{recording_.budget};
};

// Frames and stacks of calls in a recording of their own, their weights by its nodes.
class JoinedCalls {
 public:
  JoinedCalls(model::Recording& both, StackWeights& weights) : both_(both), weights_(weights) {}

  [[nodiscard]] bool add(const CarriedCalls& calls, bool is_before) {
    Column<FrameId> frames(both_.budget);
    std::vector<StringId> texts;
    for (const std::string& text : calls.texts) texts.push_back(both_.strings.intern(text));
    for (const CarriedCalls::Frame& frame : calls.frames) {
      const FrameId id = both_.frames.intern(
          {texts[static_cast<size_t>(frame.name)], texts[static_cast<size_t>(frame.file)], frame.line, -1});
      if (id.is_none() || !frames.push_back(id)) return false;
    }
    Column<int32_t> nodes(both_.budget);
    for (const CarriedCalls::Node& node : calls.nodes) {  // callers have lower numbers
      const int32_t caller = node.caller < 0 ? -1 : nodes[node.caller];
      const int32_t joined = both_.stacks.intern_node({frames[node.frame], caller});
      if (joined < 0 || !nodes.push_back(joined) ||
          !weights_.of_node.resize(both_.stacks.node_count(), StackWeight{}))
        return false;
      weights_.of_node[joined].add(weight_of(node.weight, node.blocks, is_before));
    }
    weights_.without.add(weight_of(calls.without, calls.without_blocks, is_before));
    return true;
  }

 private:
  [[nodiscard]] static StackWeight weight_of(double weight, int64_t blocks, bool is_before) {
    return is_before ? StackWeight{0, weight, 0, 0, blocks} : StackWeight{weight, 0, 0, blocks, 0};
  }

  model::Recording& both_;
  StackWeights& weights_;
};

}  // namespace

Result<CarriedCalls> find_carried_calls(const BandsAsked& of, const WeightsAsked& asked, size_t most) {
  CarriedCalls calls(of.recording.budget);
  StackWeights weights(of.recording.budget);
  if (!find_stack_weights(of, asked, weights) || !CallsToCarry(of.recording, weights, most, calls).run())
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to gather the calls of {} blocks.",
                of.bands.count());
  return calls;
}

Result<TwoCalls> compare_calls(const CarriedCalls& before, const CarriedCalls& after, const TreeAsked& asked,
                               Budget& budget) {
  TwoCalls found{std::make_unique<model::Recording>(budget), CallTree(budget)};
  StackWeights weights(budget);
  JoinedCalls joined(*found.both, weights);
  if (!joined.add(before, true) || !joined.add(after, false))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to compare the calls of two recordings.");
  TreeAsked difference = asked;
  difference.weights.of = BlocksOf::difference;
  auto tree = build_call_tree(*found.both, difference, std::move(weights));
  if (!tree) return tl::unexpected(tree.error());
  found.tree = std::move(*tree);
  return found;
}

}  // namespace gpustrata::analysis
