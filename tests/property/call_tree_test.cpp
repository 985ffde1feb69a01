// Random recordings: call trees and their tables against sums over every block's own list of frames.

#include "engine/analysis/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/analysis/block_attributes.h"
#include "engine/analysis/call_facts.h"
#include "engine/analysis/call_tree_rows.h"
#include "engine/analysis/frame_filter.h"
#include "engine/analysis/holders.h"
#include "engine/analysis/own_frame.h"
#include "tests/property/random.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::analysis {
namespace {

constexpr std::array<const char*, 5> kFiles = {"/run/model.py", "/run/train.py",
                                               "/env/lib/python3.11/site-packages/torch/nn/modules/module.py",
                                               "/env/lib/python3.11/site-packages/mylib/layers.py", "??"};
constexpr std::array<const char*, 6> kNames = {
    "forward", "train", "_call_impl", "_PyEval_Vector", "at::_ops::add_Tensor::call", "step"};

void make(replay::HandTrace& trace, Random& random, int32_t events) {
  std::vector<StackId> stacks{StackId{}, trace.recording.stacks.intern({})};
  for (int32_t i = 0; i < 30; ++i) {
    std::vector<FrameId> frames;
    for (int32_t k = random.below(7); k >= 0; --k) {
      const char* const file = kFiles[static_cast<size_t>(random.below(kFiles.size()))];
      const char* const name = kNames[static_cast<size_t>(random.below(kNames.size()))];
      frames.push_back(trace.recording.frames.intern(
          {trace.recording.strings.intern(name), trace.recording.strings.intern(file), random.below(3), -1}));
    }
    stacks.push_back(trace.recording.stacks.intern(frames));
  }
  std::vector<std::pair<uint64_t, int64_t>> live{{0x500000, 77}, {0x600000, 5}};
  uint64_t next = 0x1000;
  int64_t time = random.below(2) == 0 ? model::kNoTime : 1000;
  for (int32_t i = 0; i < events; ++i) {
    if (time != model::kNoTime) time += random.below(5);
    if (!live.empty() && random.below(5) < 2) {
      const auto at = static_cast<size_t>(random.below(static_cast<int32_t>(live.size())));
      trace.event(trace::Action::free_completed, live[at].first, live[at].second, time);
      live.erase(live.begin() + static_cast<ptrdiff_t>(at));
    } else {
      live.emplace_back(next, 1 + random.below(1000));
      trace.event(trace::Action::alloc, next, live.back().second, time);
      next += 0x1000;
    }
    trace.recording.events.stack.back() =
        stacks[static_cast<size_t>(random.below(static_cast<int32_t>(stacks.size())))];
  }
}

// What a frame is to the reader: its text, less what `by` leaves out.
std::string text_of(const model::Recording& recording, FrameKey by, FrameId id) {
  const trace::Frame& frame = recording.frames[id];
  std::string text(recording.strings.view(frame.filename));
  if (by != FrameKey::file) text += "|" + std::string(recording.strings.view(frame.name));
  if (by == FrameKey::line) text += "|" + std::to_string(std::max(frame.line, 0));
  return text;
}

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
  make(trace, random, 20 + random.below(400));
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
      const auto before = find_call_facts(bands, {BlocksOf::moment, by, -1, from}, SIZE_MAX);
      const auto after = find_call_facts(bands, {BlocksOf::moment, by, -1, to}, SIZE_MAX);
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
      const auto little = find_call_facts(bands, {BlocksOf::moment, by, -1, from}, 100);
      const auto sum = [](const CallFacts& facts) {
        double all = facts.without + facts.rest;
        for (const CallFacts::Node& node : facts.nodes) all += node.weight;
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

// Who holds the memory of a moment, against a sum over the blocks alive.
TEST_P(CallTreesOfRandomRecordings, HoldersAreSumsOverTheBlocksAlive) {
  Random random(static_cast<uint64_t>(GetParam()) + 1000);
  replay::HandTrace trace;
  make(trace, random, 20 + random.below(400));
  trace.recording.seal();
  const model::Recording& recording = trace.recording;
  auto lives = trace.lifetimes();
  ASSERT_TRUE(lives && trace.ok());
  const auto attributes = block_attributes(recording, recording.parts[0], *lives);
  WhoOfStacks who(recording);
  ASSERT_TRUE(attributes && who.prepare());
  for (const auto& [by, key] : {std::pair{HolderBy::line, FrameKey::line},
                                {HolderBy::function, FrameKey::function},
                                {HolderBy::file, FrameKey::file}}) {
    const auto keys = find_holder_keys(recording, attributes->stack.span(), by, nullptr);
    ASSERT_TRUE(keys.has_value());
    for (int round = 0; round < 10; ++round) {
      const int32_t event = random.below(lives->events.count + 1) - 1;
      std::map<std::string, std::pair<int64_t, int64_t>> expected, found;
      for (int32_t rank = 0; rank < lives->count(); ++rank) {
        if (!lives->is_live_after(rank, event)) continue;
        const Who asked = who(attributes->stack[static_cast<size_t>(rank)]);
        auto& sum = expected[asked.kind == Who::Kind::nothing ? "-" : text_of(recording, key, asked.frame)];
        sum.first += lives->size[static_cast<size_t>(rank)];
        ++sum.second;
      }
      const auto holders = find_holders(*lives, *keys, event, {}, nullptr, trace.budget);
      ASSERT_TRUE(holders.has_value());
      for (const Holder& one : holders->rows)
        found[one.key < 0 ? "-" : text_of(recording, key, keys->frame[one.key])] = {one.bytes, one.blocks};
      EXPECT_EQ(found, expected);
      EXPECT_EQ(holders->bytes, lives->level_after(event));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CallTreesOfRandomRecordings, testing::Range(1, 21));

}  // namespace
}  // namespace gpustrata::analysis
