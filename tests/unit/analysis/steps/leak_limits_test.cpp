// What is just a leak, and what is just none: steps of one allocation that is kept and one that is freed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/analysis/steps/leaks.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

// Leaks of so many steps, in some of which "remember" keeps `bytes` more.
[[nodiscard]] Leaks leaks_of_steps(int32_t count, const std::vector<int32_t>& growing, int64_t bytes = 100,
                                   bool last_is_whole = true, StepsFrom from = StepsFrom::annotations) {
  Story story;
  std::vector<int32_t> begins;
  uint64_t place = uint64_t{1} << 40;
  const auto event_count = [&] { return static_cast<int32_t>(story.recording.events.size_rows()); };
  for (int32_t step = 0; step < count; ++step) {
    begins.push_back(event_count());
    place += uint64_t{1} << 20;
    story.alloc(place, 1000).frames({"batch", "main"});
    if (std::count(growing.begin(), growing.end(), step) > 0)
      story.alloc(place + 4096, bytes).frames({"remember", "main"});
    story.complete(place, 1000);
  }
  const OpenedStory opened(story);
  Steps steps(story.recording.budget);
  steps.from = from;
  steps.sureness = 1;
  steps.call_sites = 100;
  for (const int32_t begin : begins) EXPECT_TRUE(steps.begin.push_back(begin));
  steps.end = event_count();
  steps.last_is_whole = last_is_whole;
  const auto attributes = block_attributes(opened.recording, opened.part(), *opened.lifetimes);
  EXPECT_TRUE(attributes.has_value());
  auto found = find_leaks(opened.recording, *opened.lifetimes, attributes->stack, steps);
  EXPECT_TRUE(found.has_value());
  return std::move(*found);
}

TEST(LeakLimits, ThreeGrowthsAreALeakAndTwoAreNone) {
  const Leaks three = leaks_of_steps(5, {2, 3, 4});
  ASSERT_EQ(three.leaks.size(), 1U);
  EXPECT_EQ(three.leaks[0].steps, 3);
  EXPECT_EQ(three.leaks[0].first_step, 2);
  EXPECT_EQ(three.leaks[0].bytes_per_step, 100);
  EXPECT_EQ(three.leaks[0].live_bytes, 300);
  EXPECT_EQ(three.leaks[0].live_blocks, 3);
  EXPECT_EQ(three.live_bytes, 300);
  EXPECT_EQ(three.leaks[0].confidence, 0.75);  // 1 - 2^(1 - 3)
  EXPECT_TRUE(leaks_of_steps(5, {3, 4}).leaks.empty());
}

TEST(LeakLimits, ThreeStepsAreEnoughIfTheProgramNamesThem) {
  EXPECT_EQ(leaks_of_steps(3, {0, 1, 2}).leaks.size(), 1U);
  EXPECT_TRUE(leaks_of_steps(3, {0, 1, 2}, 100, true, StepsFrom::period).leaks.empty());
  EXPECT_EQ(leaks_of_steps(4, {0, 1, 2, 3}, 100, true, StepsFrom::period).leaks.size(), 1U);
}

TEST(LeakLimits, AFifthOfTheStepsMustGrow) {
  EXPECT_EQ(leaks_of_steps(15, {12, 13, 14}).leaks.size(), 1U);
  EXPECT_TRUE(leaks_of_steps(16, {13, 14, 15}).leaks.empty());
}

// Steps 0, 2 and 4: 3 of 5, the least share. A gap of more than one step ends a run of growths.
TEST(LeakLimits, EveryOtherStepIsEnough) {
  const Leaks every_other = leaks_of_steps(5, {0, 2, 4});
  ASSERT_EQ(every_other.leaks.size(), 1U);
  EXPECT_EQ(every_other.leaks[0].steps, 3);
  EXPECT_EQ(every_other.leaks[0].confidence, 0.45);  // 0.75 * 3 / 5
  EXPECT_TRUE(leaks_of_steps(5, {0, 3, 4}).leaks.empty());
}

// Of fewer than six whole steps the last must grow, of six and more the last but one may.
TEST(LeakLimits, WhatStoppedGrowingIsNone) {
  EXPECT_TRUE(leaks_of_steps(5, {1, 2, 3}).leaks.empty());
  EXPECT_EQ(leaks_of_steps(6, {2, 3, 4}).leaks.size(), 1U);
  EXPECT_TRUE(leaks_of_steps(6, {1, 2, 3}).leaks.empty());
  // A last step that is cut off need not grow.
  EXPECT_EQ(leaks_of_steps(5, {1, 2, 3}, 100, false).leaks.size(), 1U);
  EXPECT_TRUE(leaks_of_steps(5, {0, 1, 2}, 100, false).leaks.empty());
}

TEST(LeakLimits, BlocksOfNoBytesAreNone) { EXPECT_TRUE(leaks_of_steps(5, {0, 1, 2, 3, 4}, 0).leaks.empty()); }

}  // namespace
}  // namespace gpustrata::analysis
