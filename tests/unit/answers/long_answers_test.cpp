// Answers that grow with the file: their cost, their budget, and how they go out.
#include <gtest/gtest.h>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/analysis/live/top.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/details/trace_program.h"
#include "engine/answers/live/top.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/answers/collected.h"
#include "tests/unit/numbers.h"
#include "tests/unit/processor_limit.h"

namespace gpustrata::answers {
namespace {

using analysis::OpenedStory;
using analysis::Story;
using trace::Action;

TEST(TraceText, NamesEverySegmentOfManyInOnePassOverTheEvents) {
  // 400,000 segments that all stay, each with a block: insertions at the front of a sorted list would move 320 GB, a look
  // at the events for each of them would be 3.2 * 10^11 steps.
  constexpr uint64_t kSegments = 400'000;
  Story story;
  for (uint64_t i = 0; i < kSegments; ++i) {
    const uint64_t address = kBase - (i << 21);  // downwards: always at the front of such a list
    story.event(Action::segment_alloc, address, 2 << 20);
    story.alloc(address + 512, 100);
  }
  const OpenedStory opened(story);
  CollectedText sink;
  TextOut out(sink);
  const tests::ProcessorLimit limit;
  ASSERT_TRUE(trace_to_text(out, opened.context()));
  ASSERT_TRUE(out.finish());
  EXPECT_LT(sink.longest_piece, 2 * io::kSinkPiece);
  const std::string& text = sink.text;
  EXPECT_NE(text.find("\nb0 = s0[0x200:100 B]\n"), std::string::npos);
  // The last alloc is not in the final state, so it has no life.
  EXPECT_NE(text.find("\nb399998 = s399998[0x200:100 B]\n"), std::string::npos);
}

TEST(TraceText, EndsWhenItsSinkRefuses) {
  Story story;
  story.event(Action::segment_alloc, kBase, 2 << 20);
  for (int i = 0; i < 10'000; ++i) story.alloc(kBase, 100);
  const OpenedStory opened(story);
  struct Refusing final : io::ByteSink {
    [[nodiscard]] Status write(std::span<const std::byte>) override {
      ++asked;
      return fail(ErrorCode::io_error, -1, "full");
    }
    int asked = 0;
  } sink;
  TextOut out(sink);
  EXPECT_TRUE(trace_to_text(out, opened.context()));
  json_line(out, opened.context());
  EXPECT_EQ(out.finish().error().code, ErrorCode::io_error);
  EXPECT_EQ(sink.asked, 1);
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
  const size_t bytes = collected([&](TextOut& out) { flame_to_svg(out, stacks, "wide"); }).size();
  EXPECT_GT(bytes, size_t{1} << 20);   // the wide stack is there
  EXPECT_LT(bytes, size_t{60} << 20);  // a million rectangles would be 200 MB
}

TEST(Top, JsonIsBoundedAndGoesOutInPieces) {
  Story story;
  const std::string name(4000, 'n');
  for (int i = 0; i < 20; ++i) {
    std::vector<FrameId> frames;
    for (int k = 0; k < 2000; ++k) frames.push_back(story.frame(name, "f.py", 1 + (k + i) % 100));
    story.alloc(kBase + (static_cast<uint64_t>(i) << 20), 100 + i);
    story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  }
  const OpenedStory opened(story);
  std::vector<analysis::DeviceTop> tops(1);
  tops[0].part = &opened.part();
  tops[0].top = *find_top(opened.recording, opened.part(), *opened.lifetimes, analysis::When::alive(19),
                          analysis::By::stack, 1000);
  CollectedText sink;
  TextOut out(sink);
  json_line(out, TopAnswer{"f", "end", opened.recording, tops, {}});
  ASSERT_TRUE(out.finish());
  EXPECT_NE(sink.text.find("\"lines_left_out\":"), std::string::npos);
  EXPECT_LT(sink.text.size(), size_t{25} << 20);  // 20 rows of 1 MiB instead of 8
  EXPECT_LT(sink.longest_piece, 2 * io::kSinkPiece);
}

// 3,000 segments of a block: the text of the state would be 200 KB.
TEST(StateAnswers, GoOutInPieces) {
  Story story;
  for (uint64_t i = 0; i < 3000; ++i) {
    story.segment(kBase + (i << 21), 2 << 20);
    story.block(kBase + (i << 21), 2 << 20, 100, model::BlockState::active_allocated);
  }
  const OpenedStory opened(story);
  const auto memory = opened.at_end();
  for (const bool json : {false, true}) {
    CollectedText sink;
    TextOut out(sink);
    if (json) {
      json_line(out, opened.recording, *opened.history, memory);
    } else {
      to_text(out, opened.recording, *opened.history, memory);
    }
    ASSERT_TRUE(out.finish());
    EXPECT_GT(sink.text.size(), 3 * io::kSinkPiece);
    EXPECT_LT(sink.longest_piece, 2 * io::kSinkPiece);
  }
}

}  // namespace
}  // namespace gpustrata::answers
