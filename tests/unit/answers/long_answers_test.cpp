// Answers that grow with the file: their cost, their budget, and how they go out.
#include <gtest/gtest.h>

#include "engine/analysis/flame_graph.h"
#include "engine/analysis/top.h"
#include "engine/answers/flame_graph.h"
#include "engine/answers/top.h"
#include "engine/answers/trace_program.h"
#include "tests/unit/analysis/opened_story.h"

namespace memstrata::answers {
namespace {

using analysis::OpenedStory;
using analysis::Story;
using trace::Action;

constexpr uint64_t kBase = 0x7f0000000000;

TEST(TraceText, NamesEverySegmentOfManyInOnePassOverTheEvents) {
  // 40,000 segments that all stay, each with a block: an insertion into a sorted list each would take minutes.
  constexpr uint64_t kSegments = 40'000;
  Story story;
  for (uint64_t i = 0; i < kSegments; ++i) {
    const uint64_t address = kBase - (i << 21);  // downwards: always at the front of such a list
    story.event(Action::segment_alloc, address, 2 << 20);
    story.alloc(address + 512, 100);
  }
  const OpenedStory opened(story);
  std::string text;
  ASSERT_TRUE(trace_to_text(opened.context(), [&](std::string_view piece) {
    EXPECT_EQ(piece.back(), '\n');
    EXPECT_LT(piece.size(), 2 * kPieceBytes);
    text += piece;
    return true;
  }));
  EXPECT_NE(text.find("\nb0 = s0[0x200:100 B]\n"), std::string::npos);
  // The last alloc is not in the final state, so it has no life.
  EXPECT_NE(text.find("\nb39998 = s39998[0x200:100 B]\n"), std::string::npos);
}

TEST(TraceText, EndsWhenItsSinkRefuses) {
  Story story;
  story.event(Action::segment_alloc, kBase, 2 << 20);
  story.alloc(kBase, 100);
  const OpenedStory opened(story);
  const Status done = trace_to_text(opened.context(), [](std::string_view) { return false; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io_error);
}

// 1,000 blocks, all of one stack of 10,000 frames.
void one_deep_stack(Story& story) {
  constexpr int kFrames = 10'000;
  std::vector<FrameId> frames;
  for (int i = 0; i < kFrames; ++i) frames.push_back(story.frame("f" + std::to_string(i), "deep.py", i));
  const StackId stack = story.recording.stacks.intern(frames);
  story.segment(kBase, 1 << 30);
  for (uint64_t i = 0; i < 1000; ++i) {
    story.alloc(kBase + (i << 20), 1000);
    story.recording.events.stack.back() = stack;
  }
}

TEST(FlameGraph, LooksAtAStackOnceHoweverManyBlocksHaveIt) {
  Story story;
  one_deep_stack(story);
  const OpenedStory opened(story);
  const auto memory = opened.after(998);
  const int64_t before = opened.recording.budget.used();
  const auto stacks = fold_memory(opened.recording, *opened.history, memory, opened.index->streams, {});
  ASSERT_TRUE(stacks.has_value());
  ASSERT_EQ(stacks->lines().size(), 3u);  // the blocks, their gaps, and free memory
  EXPECT_EQ(stacks->depth(stacks->lines()[0]), 2u + 10'000u);
  // The frames' texts and numbers once, not a text of 200 KB for every block.
  EXPECT_LT(opened.recording.budget.used() - before, 4 << 20);
}

TEST(FlameGraph, TakesNoMoreThanTheBudgetHas) {
  Story story;
  one_deep_stack(story);
  const OpenedStory opened(story);
  const auto memory = opened.after(998);
  const int64_t left = opened.recording.budget.limit() - opened.recording.budget.used();
  ASSERT_TRUE(opened.recording.budget.take(left - 100'000));
  EXPECT_FALSE(fold_memory(opened.recording, *opened.history, memory, opened.index->streams, {}));
  opened.recording.budget.give_back(left - 100'000);
}

TEST(FlameGraph, AVeryWideForestLeavesTheNarrowestOut) {
  // 1,000 segments with the same 10,000 frames: ten million rectangles of one pixel.
  Budget budget(int64_t{1} << 30);
  analysis::FoldedStacks stacks(budget);
  std::vector<StringId> frames;
  for (int i = 0; i < 10'000; ++i) frames.push_back(stacks.entry("f" + std::to_string(i)));
  const int32_t stack = stacks.sequence(frames);
  for (int i = 0; i < 100; ++i) {
    const StringId root = stacks.entry("s" + std::to_string(i));
    ASSERT_TRUE(stacks.add({stacks.sequence({&root, 1}), stack, false, i == 0 ? 1'000'000 : 1000}));
  }
  stacks.seal();
  size_t bytes = 0;
  ASSERT_TRUE(flame_to_svg(stacks, "wide", [&](std::string_view piece) {
    bytes += piece.size();
    return true;
  }));
  EXPECT_GT(bytes, size_t{1} << 20);   // the wide stack is there
  EXPECT_LT(bytes, size_t{60} << 20);  // a million rectangles would be 200 MB
}

TEST(Top, JsonIsBoundedAndCharged) {
  Story story;
  const std::string name(4000, 'n');
  for (int i = 0; i < 20; ++i) {
    std::vector<FrameId> frames;
    for (int k = 0; k < 2000; ++k) frames.push_back(story.frame(name, "f.py", 1 + (k + i) % 100));
    story.alloc(kBase + (static_cast<uint64_t>(i) << 20), 100 + i);
    story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  }
  const OpenedStory opened(story);
  const auto top =
      find_top(opened.recording, opened.part(), *opened.lifetimes, 19, analysis::TopBy::stack, 1000);
  ASSERT_TRUE(top.has_value());
  JsonWriter json;
  ASSERT_TRUE(to_json(json, opened.recording, *top));
  EXPECT_NE(json.text().find("\"lines_left_out\":"), std::string::npos);
  EXPECT_LT(json.text().size(), size_t{25} << 20);  // 20 rows of 1 MiB instead of 8
  const int64_t left = opened.recording.budget.limit() - opened.recording.budget.used();
  ASSERT_TRUE(opened.recording.budget.take(left - (8 << 20)));
  JsonWriter short_of_memory;
  EXPECT_FALSE(to_json(short_of_memory, opened.recording, *top));
  opened.recording.budget.give_back(left - (8 << 20));
}

}  // namespace
}  // namespace memstrata::answers
