#include "engine/analysis/compare/carried_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/answers/compare/carried_stacks.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using testing::ElementsAre;

// A story that only allocates, and what is alive at its end.
class Told {
 public:
  Told& block(int64_t size, std::initializer_list<FrameId> frames) {
    story_.alloc(kBase + 4096 * next_++, size);
    if (frames.size() > 0) story_.recording.events.stack.back() = story_.recording.stacks.intern({frames});
    return *this;
  }
  [[nodiscard]] FrameId frame(std::string_view name, int32_t line) {
    return story_.frame(name, "model.py", line);
  }
  [[nodiscard]] CarriedStacks stacks(size_t limit = 1000) {
    EXPECT_TRUE(story_.stored());
    const auto lives = story_.lifetimes();
    EXPECT_TRUE(lives.has_value());
    const auto top = find_top(story_.recording, story_.recording.parts[0], *lives,
                              When::alive(lives->events.count - 1), By::shown, limit);
    EXPECT_TRUE(top.has_value());
    auto found = carried_stacks({story_.recording, *top});
    EXPECT_TRUE(found.has_value());
    return std::move(*found);
  }
  [[nodiscard]] Budget& budget() { return story_.budget; }

 private:
  Story story_;
  uint64_t next_ = 0;
};

[[nodiscard]] std::vector<std::string> told(const ComparedParts& compared) {
  std::vector<std::string> rows;
  for (const ComparedPart& part : compared.parts)
    rows.push_back(std::to_string(part.bytes.before) + ">" + std::to_string(part.bytes.after) +
                   (part.lines_moved                      ? " moved"
                    : part.before >= 0 && part.after >= 0 ? " same stack"
                    : part.before >= 0                    ? " gone"
                                                          : " new"));
  return rows;
}

[[nodiscard]] ComparedParts compared(Told& before, Told& after, size_t limit = 1000) {
  auto found = pair(before.stacks(limit), after.stacks(limit), Paired::by_functions, after.budget());
  EXPECT_TRUE(found.has_value());
  return std::move(*found);
}

TEST(CarriedStacks, PartsGrewShrankAreNewOrGone) {
  Told before, after;
  before.block(100, {before.frame("weight", 1)}).block(700, {before.frame("gone", 2)}).block(9, {});
  after.block(60, {after.frame("weight", 1)}).block(80, {after.frame("weight", 1)});
  after.block(500, {after.frame("new", 3)}).block(4, {});
  EXPECT_THAT(told(compared(before, after)),
              ElementsAre("0>500 new", "100>140 same stack", "9>4 same stack", "700>0 gone"));
}

TEST(CarriedStacks, LinesThatMovedMatchByFunctionTheLargestWithTheLargest) {
  // forward was called at two lines, 300 and 20 bytes; an edit moved both by 7 lines, a third one is new.
  Told before, after;
  before.block(300, {before.frame("forward", 10)}).block(20, {before.frame("forward", 11)});
  after.block(40, {after.frame("forward", 17)}).block(310, {after.frame("forward", 18)});
  after.block(5, {after.frame("forward", 19)});
  EXPECT_THAT(told(compared(before, after)), ElementsAre("20>40 moved", "300>310 moved", "0>5 new"));
}

TEST(CarriedStacks, AnEqualStackIsPreferredToOneThatMoved) {
  Told before, after;
  before.block(10, {before.frame("f", 1)});
  after.block(1000, {after.frame("f", 2)}).block(11, {after.frame("f", 1)});
  EXPECT_THAT(told(compared(before, after)), ElementsAre("0>1000 new", "10>11 same stack"));
}

TEST(CarriedStacks, WhatIsBeyondTheLimitIsRestAndAllAddsUp) {
  Told before, after;
  for (int32_t i = 1; i <= 5; ++i) before.block(i, {before.frame("f" + std::to_string(i), 1)});
  after.block(9, {after.frame("f5", 1)});
  const ComparedParts found = compared(before, after, 2);
  EXPECT_EQ(found.bytes.before, 15);
  EXPECT_EQ(found.rest_bytes.before, 3 + 2 + 1);
  EXPECT_EQ(found.rest_blocks.before, 3);
  EXPECT_THAT(told(found), ElementsAre("5>9 same stack", "4>0 gone"));
}

TEST(CarriedStacks, KeysTravelAsText) {
  Told story;
  story.block(1, {story.frame("f", 1)}).block(2, {});
  for (const CarriedStack& carried : story.stacks().stacks) {
    EXPECT_EQ(answers::key_of_text(answers::key_text(carried.shown)), carried.shown);
    EXPECT_EQ(answers::key_of_text(answers::key_text(carried.without_lines)), carried.without_lines);
  }
  EXPECT_EQ(answers::key_text(ShownKey{}), std::string(32, '0'));  // no stack, in every file
  EXPECT_NE(answers::key_of_text("anything"), answers::key_of_text("other"));
  EXPECT_NE(answers::key_of_text("anything"), ShownKey{});
}

TEST(CarriedStacks, PartsOfRandomRecordingsAddUpExactly) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Told sides[2];
    int64_t bytes[2] = {0, 0};
    for (int side = 0; side < 2; ++side) {
      for (auto i = random() % 40; i > 0; --i) {
        const auto size = static_cast<int64_t>(random() % 1000);
        bytes[side] += size;
        Told& told_side = sides[side];
        const FrameId inner =
            told_side.frame("f" + std::to_string(random() % 3), static_cast<int32_t>(random() % 3));
        const FrameId outer = told_side.frame("main", static_cast<int32_t>(random() % 2));
        if (random() % 5 == 0) {
          told_side.block(size, {});
        } else {
          told_side.block(size, {inner, outer});
        }
      }
    }
    const size_t limit = random() % 2 == 0 ? 1000 : random() % 6;
    const ComparedParts found = compared(sides[0], sides[1], limit);
    BeforeAfter sum = found.rest_bytes;
    for (const ComparedPart& part : found.parts) sum += part.bytes;
    EXPECT_EQ(sum.before, bytes[0]);
    EXPECT_EQ(sum.after, bytes[1]);
    EXPECT_EQ(found.bytes.before, bytes[0]);
    EXPECT_EQ(found.bytes.after, bytes[1]);
  }
}

}  // namespace
}  // namespace gpustrata::analysis
