// Calls of a moment and of a range, by hand.
//
// Stacks, outermost first (files: m = /run/model.py, t = torch's library, i = the interpreter):
//   A  main m:1 > train m:10 > linear t:5          B  main m:1 > train m:20 > PyEval_Call (hidden) > linear t:5
//   C  main m:1 > train m:10 > train m:10          - none
// Events: 0 alloc A 100, 1 alloc B 30, 2 alloc C 7, 3 free B, 4 alloc A 50, 5 alloc - 8, 6 free the first A.
// After: 0: 100, 1: 130, 2: 137, 3: 107, 4: 157, 5: 165, 6: 65.

#include "engine/analysis/calls/call_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "engine/analysis/calls/call_tree_layout.h"
#include "engine/analysis/calls/call_tree_rows.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/stacks/frame_pattern.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

constexpr const char* kModel = "/run/model.py";
constexpr const char* kTorch = "/env/lib/python3.11/site-packages/torch/nn/functional.py";

class Calls : public testing::Test {
 protected:
  void SetUp() override {
    const FrameId main = story.frame("main", kModel, 1), train10 = story.frame("train", kModel, 10),
                  train20 = story.frame("train", kModel, 20), linear = story.frame("linear", kTorch, 5),
                  call = story.frame("PyEval_Call", "ceval.c", 3);
    const auto stack = [&](std::vector<FrameId> frames) { return story.recording.stacks.intern(frames); };
    const StackId a = stack({linear, train10, main}), b = stack({linear, call, train20, main}),
                  c = stack({train10, train10, main});
    story.alloc(0x1000, 100);
    story.recording.events.stack.back() = a;
    story.time(10);
    story.alloc(0x2000, 30);
    story.recording.events.stack.back() = b;
    story.time(20);
    story.alloc(0x3000, 7);
    story.recording.events.stack.back() = c;
    story.time(30);
    story.complete(0x2000, 30).time(40);
    story.alloc(0x4000, 50);
    story.recording.events.stack.back() = a;
    story.time(50);
    story.alloc(0x5000, 8).time(60);
    story.complete(0x1000, 100).time(70);
    story.recording.seal();
    auto found = story.lifetimes();
    ASSERT_TRUE(found && story.stored());
    lives.emplace(std::move(*found));
    auto known = block_attributes(story.recording, story.recording.parts[0], *lives);
    ASSERT_TRUE(known.has_value());
    attributes.emplace(std::move(*known));
    auto built = replay::Timeline::build(story.recording, *lives);
    ASSERT_TRUE(built.has_value());
    timeline.emplace(std::move(*built));
  }

  [[nodiscard]] CallTree tree(const TreeAsked& asked, std::span<const uint8_t> matched = {}) {
    auto built = build_call_tree(
        {story.recording, *lives, *timeline, attributes->stack.span(), matched, asked.only_matched}, asked);
    EXPECT_TRUE(built.has_value());
    return std::move(*built);
  }
  [[nodiscard]] std::string name(int32_t key) const {
    if (key < 0) return "-";
    const trace::Frame& frame = story.recording.frames[FrameId{key}];
    return std::string(story.recording.strings.view(frame.name)) + ":" + std::to_string(frame.line);
  }
  // "main:1>train:10" -> width, grown in brackets of a difference.
  [[nodiscard]] std::map<std::string, double> widths(const CallTree& of, bool grown = false) const {
    std::map<std::string, double> found;
    std::vector<std::string> paths(of.nodes.size());
    for (size_t i = 1; i < of.nodes.size(); ++i) {
      const CallTree::Node& node = of.nodes[i];
      const std::string& before = paths[static_cast<size_t>(node.parent)];
      paths[i] = before.empty() ? name(node.key) : before + ">" + name(node.key);
      found[paths[i]] = grown ? node.grew : node.width;
    }
    return found;
  }
  using Widths = std::map<std::string, double>;

  Story story;
  std::optional<replay::BlockLives> lives;
  std::optional<BlockAttributes> attributes;
  std::optional<replay::Timeline> timeline;
};

TEST_F(Calls, OfAMomentAsPyTorchShowsThem) {
  const CallTree found = tree({{BlocksOf::moment, WeightBy::bytes, -1, 2}});
  EXPECT_EQ(widths(found), (Widths{{"main:1", 137},
                                   {"main:1>train:10", 107},
                                   {"main:1>train:10>linear:5", 100},
                                   {"main:1>train:10>train:10", 7},
                                   {"main:1>train:20", 30},
                                   {"main:1>train:20>linear:5", 30}}));
  EXPECT_EQ(found.root().width, 137);
  EXPECT_EQ(found.root().blocks, 3);
  const CallTree all = tree({{BlocksOf::moment, WeightBy::bytes, -1, 2}, FrameKey::line, FramesOf::all});
  EXPECT_EQ(widths(all)["main:1>train:20>PyEval_Call:3>linear:5"], 30);
}

TEST_F(Calls, ByFunctionAndFile) {
  EXPECT_EQ(widths(tree({{BlocksOf::moment, WeightBy::blocks, -1, 5}, FrameKey::function})),
            (Widths{{"main:1", 3},
                    {"main:1>train:10", 3},
                    {"main:1>train:10>linear:5", 2},
                    {"main:1>train:10>train:10", 1},
                    {"-", 1}}));
  // Calls inside of a file are one.
  EXPECT_EQ(widths(tree({{BlocksOf::moment, WeightBy::bytes, -1, 5}, FrameKey::file})),
            (Widths{{"main:1", 157}, {"main:1>linear:5", 150}, {"-", 8}}));
}

TEST_F(Calls, OfOwnCodeAndInverted) {
  TreeAsked asked{{BlocksOf::moment, WeightBy::bytes, -1, 2}, FrameKey::line, FramesOf::own};
  EXPECT_EQ(widths(tree(asked)), (Widths{{"main:1", 137},
                                         {"main:1>train:10", 107},
                                         {"main:1>train:10>train:10", 7},
                                         {"main:1>train:20", 30}}));
  asked.frames = FramesOf::shown;
  asked.inverted = true;
  EXPECT_EQ(widths(tree(asked)), (Widths{{"linear:5", 130},
                                         {"linear:5>train:10", 100},
                                         {"linear:5>train:10>main:1", 100},
                                         {"linear:5>train:20", 30},
                                         {"linear:5>train:20>main:1", 30},
                                         {"train:10", 7},
                                         {"train:10>train:10", 7},
                                         {"train:10>train:10>main:1", 7}}));
}

TEST_F(Calls, OfARange) {
  // Events 1 to 5: made B 30, C 7, A 50, - 8; B was freed in it.
  const auto of = [&](BlocksOf blocks) { return tree({{blocks, WeightBy::bytes, 0, 5}}).root(); };
  EXPECT_EQ(of(BlocksOf::allocated).width, 95);
  EXPECT_EQ(of(BlocksOf::kept).width, 65);
  EXPECT_EQ(of(BlocksOf::passed).width, 30);
  EXPECT_EQ(of(BlocksOf::passed).blocks, 1);
  const RangeTotals totals = find_range_totals(*lives, 0, 5);
  EXPECT_EQ(totals.allocated.bytes, 95);
  EXPECT_EQ(totals.kept.bytes, 65);
  EXPECT_EQ(totals.passed.bytes, 30);
  EXPECT_EQ(totals.freed.bytes, 30);
  EXPECT_EQ(totals.level_before, 100);
  EXPECT_EQ(totals.level_after, 165);
  EXPECT_EQ(totals.peak, 165);
  EXPECT_EQ(totals.peak_event, 5);
}

TEST_F(Calls, BytesTimesTime) {
  // After event 5, at 60 us: A 100 since 10, C 7 since 30, A 50 since 50, - 8 since 60.
  const CallTree found = tree({{BlocksOf::moment, WeightBy::time, -1, 5}});
  EXPECT_TRUE(found.in_time);
  EXPECT_EQ(found.root().width, 100 * 50 + 7 * 30 + 50 * 10 + 0);
  // B lived from 20 to 40.
  EXPECT_EQ(tree({{BlocksOf::passed, WeightBy::time, 0, 5}}).root().width, 30 * 20);
}

TEST_F(Calls, ADifferenceAddsUpPathByPath) {
  // After 6 less after 1: linear of A has 50 for 100, B is gone, C and - came.
  const CallTree found = tree({{BlocksOf::difference, WeightBy::bytes, 1, 6}});
  EXPECT_EQ(widths(found), (Widths{{"main:1", 87},
                                   {"main:1>train:10", 57},
                                   {"main:1>train:10>linear:5", 50},
                                   {"main:1>train:10>train:10", 7},
                                   {"main:1>train:20", 30},
                                   {"main:1>train:20>linear:5", 30},
                                   {"-", 8}}));
  EXPECT_EQ(widths(found, true)["main:1>train:10"], 7);
  const CallTree::Node& root = found.root();
  EXPECT_EQ(root.grew - (root.width - root.grew), 65 - 130);
  EXPECT_EQ(root.blocks, 3 - 2);
}

TEST_F(Calls, WhatAFilterMeansIsLit) {
  const std::vector<uint8_t> matched{1, 0, 0, 0, 1};  // the first A, and -
  TreeAsked asked{{BlocksOf::moment, WeightBy::bytes, -1, 5}};
  EXPECT_EQ(tree(asked, matched).root().lit, 108);
  EXPECT_EQ(tree(asked, matched).root().width, 165);
  asked.only_matched = true;
  EXPECT_EQ(widths(tree(asked, matched)),
            (Widths{{"main:1", 100}, {"main:1>train:10", 100}, {"main:1>train:10>linear:5", 100}, {"-", 8}}));
}

TEST_F(Calls, RectanglesAreAtLeastAPixelWide) {
  const CallTree found = tree({{BlocksOf::moment, WeightBy::bytes, -1, 2}});  // 137: 107 (100 + 7), 30
  const auto layout = lay_out(story.recording, found, {{}, 137, 10});
  ASSERT_TRUE(layout.has_value());
  ASSERT_EQ(layout->rects.size(), 7U);
  EXPECT_EQ(layout->rows, 4);
  EXPECT_FALSE(layout->cut);
  const TreeRect& train20 = layout->rects[3];
  EXPECT_EQ(train20.left, 107);
  EXPECT_EQ(train20.right, 137);
  EXPECT_EQ(train20.parent, 1);
  // At a twentieth, 7 bytes are less than a pixel.
  EXPECT_EQ(lay_out(story.recording, found, {{}, 7, 10})->rects.size(), 6U);
  EXPECT_TRUE(lay_out(story.recording, found, {{}, 137, 2})->cut);
  // Zoomed to train:10, which fills the width below its callers.
  const int32_t main = found.nodes[found.children(0)[0]].key;
  const int32_t train = found.nodes[found.children(found.children(0)[0])[0]].key;
  const std::vector<int32_t> path{main, train, 12345};
  const auto zoomed = lay_out(story.recording, found, {path, 107, 10});
  EXPECT_EQ(zoomed->steps, 2);
  ASSERT_EQ(zoomed->rects.size(), 5U);
  EXPECT_EQ(zoomed->rects[2].right, 107);
  EXPECT_EQ(zoomed->rects[3].right, 100);
}

TEST_F(Calls, ASearchTellsItsShareOnce) {
  const CallTree found = tree({{BlocksOf::moment, WeightBy::bytes, -1, 2}});
  Column<uint8_t> keys(story.recording.budget);
  ASSERT_TRUE(find_keys_with(story.recording, found, "MODEL.py:10:TRAIN", keys));
  TreeFound sum;
  ASSERT_TRUE(find_in_tree(story.recording, found, keys, sum));
  EXPECT_EQ(sum.width, 107);  // though C has it twice
  EXPECT_EQ(sum.frames, 1);
}

TEST_F(Calls, RowsCountARecursionOnce) {
  for (const bool inverted : {false, true}) {
    TreeAsked asked{{BlocksOf::moment, WeightBy::bytes, -1, 2}};
    asked.inverted = inverted;
    const CallTree found = tree(asked);
    const auto rows = find_frame_rows(story.recording, found, RowOrder::total, true, {});
    ASSERT_TRUE(rows.has_value());
    std::map<std::string, std::pair<double, double>> of;
    for (const FrameRow& row : *rows) of[name(row.key)] = {row.total, row.self};
    EXPECT_EQ(
        of,
        (std::map<std::string, std::pair<double, double>>{
            {"main:1", {137, 0}}, {"train:10", {107, 7}}, {"linear:5", {130, 130}}, {"train:20", {30, 0}}}));
    EXPECT_EQ(name((*rows)[0].key), "main:1");
    EXPECT_EQ(name((*rows)[1].key), "linear:5");
  }
}

TEST_F(Calls, AFrameAsAFilter) {
  const auto pattern = parse_frame_pattern("C:\\run.py:12:at::add(int, a:7:b)");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_EQ(pattern->file, "C:\\run.py");
  EXPECT_EQ(pattern->line, 12);
  EXPECT_EQ(pattern->name, "at::add(int, a:7:b)");
  EXPECT_FALSE(parse_frame_pattern("model.py:forward").has_value());
  EXPECT_EQ(frame_pattern(story.recording, FrameKey::function, story.frame("train", kModel, 20)),
            "/run/model.py:*:train");
  Column<uint8_t> nodes(story.recording.budget);
  ASSERT_TRUE(find_nodes_with(story.recording, {"*", "PyEval_Call", -1}, nodes));
  int32_t meant = 0;
  for (const uint8_t one : nodes) meant += one;
  EXPECT_EQ(meant, 2);  // itself and linear above it
}

}  // namespace
}  // namespace gpustrata::analysis
