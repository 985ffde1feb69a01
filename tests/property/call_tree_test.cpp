// Random recordings: call trees and their tables against sums over every block's own list of frames.

#include "engine/analysis/calls/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/analysis/calls/call_tree_rows.h"
#include "engine/analysis/calls/carried_calls.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/analysis/stacks/own_frame.h"
#include "tests/property/random_calls.h"

namespace gpustrata::analysis {
namespace {

// Outermost first.
std::vector<std::string> path_of(const model::Recording& recording, const TreeAsked& asked,
                                 const WhoOfStacks& who, StackId stack) {
  if (stack.is_none() || recording.stacks.leaf(stack) < 0) return {"-"};
  std::vector<FrameId> frames = recording.stacks.frames_of(stack);
  const auto kept = [&](auto wanted) {
    std::vector<FrameId> found;
    std::copy_if(frames.begin(), frames.end(), std::back_inserter(found), wanted);
    return found;
  };
  std::vector<FrameId> chosen = frames;
  if (asked.frames == FramesOf::shown) {
    chosen = kept([&](FrameId id) {
      return !is_hidden(recording.strings.view(recording.frames[id].name),
                        recording.strings.view(recording.frames[id].filename));
    });
    if (chosen.empty()) chosen = frames;
  } else if (asked.frames == FramesOf::own) {
    chosen = kept([&](FrameId id) { return origin_of(recording, id) == Origin::own; });
    if (chosen.empty())
      chosen = kept([&](FrameId id) { return origin_of(recording, id) == Origin::package; });
    if (chosen.empty()) chosen = {who(stack).frame};
  }
  if (!asked.inverted) std::reverse(chosen.begin(), chosen.end());
  std::vector<std::string> path;
  for (const FrameId id : chosen) {
    std::string text = text_of(recording, asked.by, id);
    if (asked.by == FrameKey::file && !path.empty() && path.back() == text) continue;
    path.push_back(std::move(text));
  }
  return path;
}

struct Sum {
  double after = 0, before = 0;
};

// Width and what grew, by path. A node is its own part and its children.
using Nodes = std::map<std::vector<std::string>, std::pair<double, double>>;
Nodes nodes_of(const model::Recording& recording, FrameKey by, const CallTree& tree) {
  Nodes found;
  std::vector<std::vector<std::string>> at(tree.nodes.size());
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallTree::Node& node = tree.nodes[i];
    if (i > 0) {
      at[i] = at[static_cast<size_t>(node.parent)];
      at[i].push_back(node.key < 0 ? "-" : text_of(recording, by, FrameId{node.key}));
    }
    found[at[i]] = {node.width, node.grew};
    double below = node.self;
    for (const int32_t child : tree.children(static_cast<int32_t>(i))) below += tree.nodes[child].width;
    EXPECT_EQ(below, node.width);
  }
  return found;
}

class CallTreesOfRandomRecordings : public testing::TestWithParam<int> {};

TEST_P(CallTreesOfRandomRecordings, AreSumsOverTheirBlocks) {
  Random random(static_cast<uint64_t>(GetParam()));
  replay::HandTrace trace;
  make_random_calls(trace, random, 20 + random.below(400));
  trace.recording.seal();
  const model::Recording& recording = trace.recording;
  auto lives = trace.lifetimes();
  ASSERT_TRUE(lives && trace.ok());
  const auto attributes = block_attributes(recording, recording.parts[0], *lives);
  const auto timeline = replay::Timeline::build(recording, *lives);
  ASSERT_TRUE(attributes && timeline);
  WhoOfStacks who(recording);
  ASSERT_TRUE(who.prepare());
  const int32_t events = lives->events.count;
  const bool in_time = timeline->extent(replay::Axis::time) > 0;
  const auto position = [&](int32_t event) {
    return timeline->position(in_time ? replay::Axis::time : replay::Axis::event, event);
  };

  for (int round = 0; round < 40; ++round) {
    TreeAsked asked;
    asked.weights = {static_cast<BlocksOf>(random.below(5)), static_cast<WeightBy>(random.below(3)),
                     random.below(events + 1) - 1, random.below(events + 1) - 1};
    if (asked.weights.of != BlocksOf::difference && asked.weights.from > asked.weights.to)
      std::swap(asked.weights.from, asked.weights.to);
    asked.by = static_cast<FrameKey>(random.below(3));
    asked.frames = static_cast<FramesOf>(random.below(3));
    asked.inverted = random.below(2) == 1;
    const auto [of, by, from, to] = asked.weights;

    std::map<std::vector<std::string>, Sum> paths;
    for (int32_t rank = 0; rank < lives->count(); ++rank) {
      const int32_t born = lives->born[rank], freed = lives->freed[rank];
      const auto alive = [&](int32_t event) { return born <= event && event < freed; };
      const auto weight = [&](int32_t until) {
        if (by == WeightBy::blocks) return 1.0;
        const auto bytes = static_cast<double>(lives->size[rank]);
        return by == WeightBy::bytes ? bytes : bytes * static_cast<double>(position(until) - position(born));
      };
      const bool made = born > from && born <= to;
      Sum sum;
      bool counts = false;
      if (of == BlocksOf::moment || of == BlocksOf::difference) {
        if (alive(to)) sum.after = weight(to);
        if (of == BlocksOf::difference && alive(from)) sum.before = weight(from);
        counts = alive(to) || (of == BlocksOf::difference && alive(from));
      } else if (made && (of == BlocksOf::allocated || alive(to) == (of == BlocksOf::kept))) {
        sum.after = weight(std::min(freed, to));
        counts = true;
      }
      if (!counts) continue;
      Sum& total = paths[path_of(recording, asked, who, attributes->stack[static_cast<size_t>(rank)])];
      total.after += sum.after;
      total.before += sum.before;
    }
    // Every prefix of a path is a node; a frame of it a row, each path once.
    Nodes nodes;
    std::map<std::string, std::pair<double, double>> rows;  // total, self
    for (const auto& [path, sum] : paths) {
      const double width = of == BlocksOf::difference ? std::abs(sum.after - sum.before) : sum.after;
      const double grew = of == BlocksOf::difference ? std::max(sum.after - sum.before, 0.0) : 0;
      for (size_t length = 0; length <= path.size(); ++length) {
        auto& node = nodes[{path.begin(), path.begin() + static_cast<ptrdiff_t>(length)}];
        node.first += width;
        node.second += grew;
      }
      for (const std::string& one : std::set<std::string>(path.begin(), path.end())) rows[one].first += width;
      rows[asked.inverted ? path.front() : path.back()].second += width;
    }

    const BandsAsked bands{recording, *lives, *timeline, attributes->stack.span(), {}, false};
    const auto tree = build_call_tree(bands, asked);
    ASSERT_TRUE(tree.has_value());
    const auto name = [&](int32_t key) { return key < 0 ? "-" : text_of(recording, asked.by, FrameId{key}); };
    if (!paths.empty()) {
      EXPECT_EQ(nodes_of(recording, asked.by, *tree), nodes);
    }

    // Two moments as those of two recordings are compared: by what each tells of its calls.
    if (of == BlocksOf::difference && by != WeightBy::time && !paths.empty()) {
      const auto before = find_carried_calls(bands, {BlocksOf::moment, by, -1, from}, SIZE_MAX);
      const auto after = find_carried_calls(bands, {BlocksOf::moment, by, -1, to}, SIZE_MAX);
      ASSERT_TRUE(before && after);
      const auto two = compare_calls(*before, *after, asked, trace.budget);
      ASSERT_TRUE(two.has_value());
      // Of equal functions without a file any frame may stand for a stack that has neither own code nor packages.
      const auto found = nodes_of(*two->both, asked.by, two->tree);
      if (asked.frames == FramesOf::own) {
        EXPECT_EQ(found.at({}), nodes.at({}));
      } else {
        EXPECT_EQ(found, nodes);
      }
      // However little may be told, nothing is lost.
      const auto little = find_carried_calls(bands, {BlocksOf::moment, by, -1, from}, 100);
      const auto sum = [](const CarriedCalls& calls) {
        double all = calls.without + calls.rest;
        for (const CarriedCalls::Node& node : calls.nodes) all += node.weight;
        return all;
      };
      ASSERT_TRUE(little.has_value());
      EXPECT_EQ(sum(*little), sum(*before));
      EXPECT_LE(little->nodes.size() * 4 + little->frames.size() * 3 + little->texts.size(), 100U);
    }

    const auto table = find_frame_rows(recording, *tree, RowOrder::total, true, {});
    ASSERT_TRUE(table.has_value());
    double last = 1e300;
    for (const FrameRow& row : *table) {
      const auto known = rows.find(name(row.key));
      ASSERT_NE(known, rows.end());
      EXPECT_EQ(row.total, known->second.first);
      EXPECT_EQ(row.self, known->second.second);
      EXPECT_LE(row.total, last);
      last = row.total;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CallTreesOfRandomRecordings, testing::Range(1, 21));

}  // namespace
}  // namespace gpustrata::analysis
