#include "engine/analysis/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/live/top.h"
#include "engine/replay/state_history.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/answers/collected.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using testing::ElementsAre;

// What is alive at the end of a story.
class Alive {
 public:
  explicit Alive(Story& story, By by = By::shown) : story_(story), top_(story.recording.budget) {
    EXPECT_TRUE(story.stored());
    const auto lifetimes = story.lifetimes();
    EXPECT_TRUE(lifetimes.has_value());
    auto found = find_top(story.recording, story.recording.parts[0], *lifetimes,
                          When::alive(lifetimes->events.count - 1), by, kAllGroups);
    EXPECT_TRUE(found.has_value());
    top_ = std::move(*found);
  }
  [[nodiscard]] Side side() const { return {story_.recording, top_}; }

 private:
  Story& story_;
  Top top_;
};

Comparison compared(const Alive& before, const Alive& after, size_t limit) {
  auto found = compare_groups(before.side(), after.side(), limit);
  EXPECT_TRUE(found.has_value());
  return std::move(*found);
}

std::string words(const Alive& before, const Alive& after, const ComparedPart& row) {
  const Side side = row.before < 0 ? after.side() : before.side();
  const StackId stack = side.top.groups[row.before < 0 ? row.after : row.before].stack;
  const auto lines = answers::shown_lines(side.recording, stack, 10, 1000).lines;
  return (lines.empty() ? "-" : lines[0]) + " " + std::to_string(row.bytes.before) + " " +
         std::to_string(row.bytes.after) + " " + std::to_string(row.blocks.before) + " " +
         std::to_string(row.blocks.after);
}

TEST(Compare, WhatGrewMostComesFirst) {
  Story before, after;
  before.alloc(kBase, 100).frames({"weight", "main"});
  before.alloc(kBase + 4096, 700).frames({"gone", "main"});
  before.alloc(kBase + 8192, 50).frames({"grows", "main"});
  before.alloc(kBase + 12288, 9);
  // Ids of frames differ: only what they say counts.
  after.alloc(kBase, 60).frames({"grows", "main"});
  after.alloc(kBase + 4096, 60).frames({"grows", "main"});
  after.alloc(kBase + 8192, 1000).frames({"new", "main"});
  after.alloc(kBase + 12288, 100).frames({"weight", "main"});
  after.alloc(kBase + 16384, 4);
  after.alloc(kBase + 20480, 5);
  const Alive a(before), b(after);
  const Comparison found = compared(a, b, 10);
  EXPECT_EQ(found.bytes.growth(), 1229 - 859);
  EXPECT_EQ(found.blocks.growth(), 2);
  ASSERT_EQ(found.rows.size(), 4u);
  EXPECT_EQ(words(a, b, found.rows[0]), "file.py:1:new 0 1000 0 1");
  EXPECT_EQ(words(a, b, found.rows[1]), "file.py:1:grows 50 120 1 2");
  EXPECT_EQ(words(a, b, found.rows[2]), "- 9 9 1 2");  // the same bytes in more blocks
  EXPECT_EQ(words(a, b, found.rows[3]), "file.py:1:gone 700 0 1 0");
  EXPECT_EQ(found.rows[0].before, -1);
  EXPECT_GE(found.rows[1].before, 0);
  EXPECT_EQ(found.changed, 4);
  EXPECT_EQ(found.unchanged, 1);
  // The sum falls: what shrank most comes first.
  const Comparison back = compared(b, a, 1);
  ASSERT_EQ(back.rows.size(), 1u);
  EXPECT_EQ(words(b, a, back.rows[0]), "file.py:1:new 1000 0 1 0");
  EXPECT_EQ(back.other_bytes.growth(), 859 - 1229 + 1000);
}

TEST(Compare, RowsBeyondTheLimitAreOne) {
  Story before, after;
  for (int i = 1; i <= 5; ++i)
    after.alloc(kBase + 4096 * static_cast<uint64_t>(i), i)
        .frames({std::string_view("abcdef").substr(0, size_t(i))});
  const Alive a(before), b(after);
  const Comparison found = compared(a, b, 2);
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0].bytes.after, 5);
  EXPECT_EQ(found.changed, 5);
  EXPECT_EQ(found.other_bytes.after, 3 + 2 + 1);
  EXPECT_EQ(found.other_blocks.after, 3);
}

TEST(Compare, StacksThatDifferInHiddenFramesOnlyAreShownAndCountedAsOne) {
  Story before, after;
  before.alloc(kBase, 10).frames({"leaf", "PyEval_EvalFrame", "main"});
  after.alloc(kBase, 10).frames({"leaf", "main"});
  after.alloc(kBase + 4096, 10).frames({"leaf", "PyObject_Call", "main"});
  const Alive a(before), b(after);
  const Comparison found = compared(a, b, 10);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].bytes.growth(), 10);
  EXPECT_EQ(found.rows[0].blocks.after, 2);
  // The other way round: a line that repeats is not the same as one that does not.
  Story once, thrice;
  once.alloc(kBase, 1).frames({"layer", "main"});
  thrice.alloc(kBase, 1).frames({"layer", "layer", "layer", "main"});
  const Alive c(once), d(thrice);
  EXPECT_EQ(compared(c, d, 10).changed, 2);
}

TEST(Compare, ByLineByFunctionAndByFile) {
  Story before, after;
  before.alloc(kBase, 10).frames({"f", "main"});
  after.alloc(kBase, 30).frames({"f", "other"});
  for (const By by : {By::line, By::function, By::file}) {
    const Alive a(before, by), b(after, by);
    const Comparison found = compared(a, b, 10);
    ASSERT_EQ(found.rows.size(), 1u);
    EXPECT_EQ(found.rows[0].bytes.growth(), 20);
  }
}

TEST(Compare, SegmentsAreTheSameIfAddressAndSizeAre) {
  const auto segment = [](uint64_t address, int64_t size) {
    replay::SegmentAt one;
    one.address = address;
    one.size = size;
    return one;
  };
  const std::vector before{segment(0x1000, 10), segment(0x2000, 20), segment(0x3000, 30)};
  const std::vector after{segment(0x1000, 10), segment(0x2000, 25), segment(0x5000, 40), segment(0x6000, 50)};
  Budget budget(1 << 20);
  const ComparedSegments found = *compare_segments(before, after, budget);
  EXPECT_EQ(found.in_both, 1);
  EXPECT_EQ(found.in_both_bytes, 10);
  EXPECT_EQ(found.only_before_bytes, 50);
  EXPECT_EQ(found.only_after_bytes, 115);
  const auto sizes = [](const Column<replay::SegmentAt>& all) {
    std::vector<int64_t> out;
    for (const auto& one : all) out.push_back(one.size);
    return out;
  };
  EXPECT_THAT(sizes(found.only_before), ElementsAre(30, 20));  // largest first
  EXPECT_THAT(sizes(found.only_after), ElementsAre(50, 40, 25));
}

TEST(Compare, TheFlameGraphHasWhatOnlyOneSideHas) {
  Budget budget(1 << 20);
  const auto graph = [&](std::initializer_list<std::pair<const char*, int64_t>> lines) {
    FoldedStacks stacks(budget);
    const StringId root = stacks.entry("s");
    const int32_t roots = stacks.sequence({&root, 1});
    for (const auto& [text, bytes] : lines) {
      const StringId leaf = stacks.entry(text);
      EXPECT_TRUE(stacks.add({roots, stacks.sequence({&leaf, 1}), false, bytes}));
    }
    stacks.seal();
    return stacks;
  };
  FoldedStacks found(budget);
  ASSERT_TRUE(add_difference(found, graph({{"a", 10}, {"b", 5}, {"c", 7}}),
                             graph({{"a", 4}, {"b", 5}, {"d", 9}, {"c", 8}}), ""));
  ASSERT_TRUE(add_difference(found, graph({{"a", 1}}), graph({}), "device 1"));
  found.seal();
  EXPECT_EQ(answers::collected([&](answers::TextOut& out) { folded_to_text(out, found); }),
            "only_after;s;c 1\nonly_after;s;d 9\nonly_before;device 1;s;a 1\nonly_before;s;a 6\n");
}

TEST(Compare, AbsurdSizesSaturate) {
  replay::SegmentAt huge;
  huge.size = std::numeric_limits<int64_t>::max();
  const std::vector both{huge, huge};
  Budget budget(1 << 20);
  EXPECT_EQ(compare_segments(both, {}, budget)->only_before_bytes, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace gpustrata::analysis
