// Leaks and what only looks like one: five steps of four events each, made by hand.
#include "engine/analysis/steps/leaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

class LeaksOfSteps : public testing::Test {
 protected:
  void step() { begins.push_back(events()); }
  [[nodiscard]] int32_t events() const { return static_cast<int32_t>(story.recording.events.size_rows()); }
  uint64_t alloc(int64_t size, std::string_view function) {
    next += 1 << 20;
    story.alloc(next, size).frames({function, "main"});
    return next;
  }
  [[nodiscard]] Leaks found() {
    const OpenedStory opened(story);
    Steps steps(story.recording.budget);
    steps.from = StepsFrom::annotations;
    steps.sureness = 1;
    for (const int32_t begin : begins) EXPECT_TRUE(steps.begin.push_back(begin));
    steps.end = end < 0 ? events() : end;
    const auto attributes = block_attributes(opened.recording, opened.part(), *opened.lifetimes);
    EXPECT_TRUE(attributes.has_value());
    auto leaks = find_leaks(opened.recording, *opened.lifetimes, attributes->stack, steps);
    EXPECT_TRUE(leaks.has_value());
    return std::move(*leaks);
  }
  Story story;
  std::vector<int32_t> begins;
  int32_t end = -1;  // of the last step; -1 = with the last event
  uint64_t next = kBase;
};

TEST_F(LeaksOfSteps, AStackThatKeepsMoreInEveryStep) {
  for (int i = 0; i < 5; ++i) {
    step();
    const uint64_t batch = alloc(1000, "batch");
    alloc(70, "remember");
    alloc(70, "remember");
    story.complete(batch, 1000);
  }
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 1u);
  const Leak& leak = leaks.leaks[0];
  EXPECT_EQ(leak.bytes_per_step, 140);
  EXPECT_EQ(leak.blocks_per_step, 2);
  EXPECT_EQ(leak.steps, 5);
  EXPECT_EQ(leak.first_step, 0);
  EXPECT_EQ(leak.live_bytes, 5 * 140);
  EXPECT_EQ(leak.live_blocks, 10);
}

// Of the stack that keeps 70 bytes of each step, what it asks for in passing is alive when the last step ends.
TEST_F(LeaksOfSteps, WhatIsInUseInPassingAtTheEndIsNotKept) {
  for (int i = 0; i < 5; ++i) {
    step();
    alloc(70, "remember");
    const uint64_t passing = alloc(9000, "remember");
    if (i < 4) story.complete(passing, 9000);
  }
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 1u);
  EXPECT_EQ(leaks.leaks[0].bytes_per_step, 70);
  EXPECT_EQ(leaks.leaks[0].blocks_per_step, 1);
  EXPECT_EQ(leaks.leaks[0].live_bytes, 5 * 70);
  EXPECT_EQ(leaks.leaks[0].live_blocks, 5);
  EXPECT_EQ(leaks.leaks[0].largest_rank, 0);
}

TEST_F(LeaksOfSteps, StateOfAnOptimizerMayComeToAnEndButWhatItCallsBackMayNot) {
  const FrameId optimizer = story.frame("step", "site-packages/torch/optim/adam.py", 9),
                closure = story.frame("closure", "train.py", 7);
  for (int i = 0; i < 8; ++i) {
    step();
    for (const auto& frames : {std::vector{optimizer, closure}, std::vector{closure, optimizer}}) {
      next += 1 << 20;
      story.alloc(next, frames[0] == optimizer ? 70 : 50);
      story.recording.events.stack.back() = story.recording.stacks.intern(frames);
    }
  }
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 2u);
  EXPECT_EQ(leaks.leaks[0].live_bytes, 8 * 70);
  EXPECT_DOUBLE_EQ(leaks.leaks[0].confidence, 0.5);
  EXPECT_EQ(sure_leaks(leaks), 1u);
}

// One more block in every step: all of them are kept.
TEST_F(LeaksOfSteps, WhatKeepsMoreEachTimeIsCountedWhole) {
  for (int i = 0; i < 6; ++i) {
    step();
    for (int k = 0; k <= i; ++k) alloc(100, "remember");
  }
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 1u);
  EXPECT_EQ(leaks.leaks[0].live_bytes, 2100);
  EXPECT_EQ(leaks.leaks[0].live_blocks, 21);
}

// Of ten steps, by a line of its own in each.
TEST_F(LeaksOfSteps, MoreIsInUseAfterEachStepAndNoStackIsTheReason) {
  const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  std::vector<uint64_t> kept;
  for (const char* const name : names) {
    step();
    if (kept.size() == 8) {
      EXPECT_FALSE(found().level_rises);  // too few steps
    }
    story.complete(alloc(1000, "batch"), 1000);
    kept.push_back(alloc(70, name));
  }
  EXPECT_TRUE(found().leaks.empty());
  EXPECT_TRUE(found().level_rises);
}

// A cache of five that has filled, or a leak whose last one is late: by the last of six steps nobody can tell.
TEST_F(LeaksOfSteps, WhatDoesNotGrowInTheLastStepIsNotSure) {
  for (int i = 0; i < 6; ++i) {
    step();
    story.complete(alloc(1000, "batch"), 1000);
    if (i < 5) alloc(70, "remember");
  }
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 1u);
  EXPECT_DOUBLE_EQ(leaks.leaks[0].confidence, 0.7);  // three quarters of 1 - 1/16
  EXPECT_EQ(sure_leaks(leaks), 0u);
}

TEST_F(LeaksOfSteps, ThreeStepsAreNotSureAndFourAre) {
  for (int i = 0; i < 3; ++i) {
    step();
    alloc(70, "remember");
  }
  EXPECT_EQ(sure_leaks(found()), 0u);
  step();
  alloc(70, "remember");
  EXPECT_EQ(sure_leaks(found()), 1u);
}

TEST_F(LeaksOfSteps, WhatComesOnceOrIsReplacedOrComesLateIsNone) {
  uint64_t cached = 0;
  for (int i = 0; i < 5; ++i) {
    step();
    if (i == 1) alloc(500, "optimizer_state");
    if (i < 2) alloc(30, "warm_up");
    const uint64_t cache = alloc(100 + i, "cache");
    if (cached != 0) story.complete(cached, 100);
    cached = cache;
    if (i == 4) alloc(9, "new_at_last");
  }
  EXPECT_TRUE(found().leaks.empty());
}

TEST_F(LeaksOfSteps, WhatShrinksInBetweenIsNone) {
  std::vector<uint64_t> kept;
  for (int i = 0; i < 6; ++i) {
    step();
    kept.push_back(alloc(50, "queue"));
    if (i == 4) {
      for (const uint64_t one : kept) story.complete(one, 50);
      kept.clear();
    }
  }
  EXPECT_TRUE(found().leaks.empty());
}

// Seven steps; an evaluation after the third and the sixth. A hook keeps what the layer made, wherever it is called.
TEST_F(LeaksOfSteps, WhatAHookKeepsOfTwoEvaluationsIsOneIfItIsOneInTraining) {
  const auto layer_called_by = [&](std::string_view caller) {
    next += 1 << 20;
    story.alloc(next, 70).frames({"layer", "model", caller, "main"});
  };
  for (int i = 0; i < 7; ++i) {
    step();
    layer_called_by("train");
    if (i % 3 == 2) layer_called_by("evaluate");
  }
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 2u);
  EXPECT_EQ(leaks.leaks[0].live_bytes, 7 * 70);
  EXPECT_EQ(leaks.leaks[1].live_bytes, 2 * 70);
  EXPECT_EQ(leaks.leaks[1].gap, 3);
  EXPECT_EQ(leaks.live_bytes, 9 * 70);
}

// By itself it may be a buffer of each kind of evaluation.
TEST_F(LeaksOfSteps, WhatTwoEvaluationsKeepIsNoneByItself) {
  for (int i = 0; i < 7; ++i) {
    step();
    alloc(70, "train");
    if (i % 3 == 2) alloc(70, "evaluate");
  }
  EXPECT_EQ(found().leaks.size(), 1u);
}

// Six steps, of which the last five are kept: one block of six has been given back, in the last step.
TEST_F(LeaksOfSteps, TheLastFiveOfSixAreNone) {
  uint64_t oldest = 0;
  for (int i = 0; i < 6; ++i) {
    step();
    const uint64_t one = alloc(70, "window");
    if (i == 0) oldest = one;
  }
  story.complete(oldest, 70);
  EXPECT_TRUE(found().leaks.empty());
}

// The loop is known to its last request, so what it does behind that lies behind its last step.
TEST_F(LeaksOfSteps, TheLastFiveOfSixAreNoneWhenTheOldestGoesBehindTheLastStep) {
  uint64_t oldest = 0;
  for (int i = 0; i < 6; ++i) {
    step();
    const uint64_t one = alloc(70, "window");
    if (i == 0) oldest = one;
  }
  end = events();
  story.complete(oldest, 70);
  EXPECT_TRUE(found().leaks.empty());
}

// All of it goes when the function returns: a list that grew in every step.
TEST_F(LeaksOfSteps, WhatGoesAllAtOnceBehindTheLastStepIsOne) {
  std::vector<uint64_t> kept;
  for (int i = 0; i < 6; ++i) {
    step();
    kept.push_back(alloc(70, "remember"));
  }
  end = events();
  for (const uint64_t one : kept) story.complete(one, 70);
  const Leaks leaks = found();
  ASSERT_EQ(leaks.leaks.size(), 1u);
  EXPECT_EQ(leaks.leaks[0].live_bytes, 6 * 70);
}

TEST_F(LeaksOfSteps, TwoStepsAreTooFew) {
  for (int i = 0; i < 2; ++i) {
    step();
    alloc(70, "remember");
  }
  EXPECT_TRUE(found().leaks.empty());
}

}  // namespace
}  // namespace gpustrata::analysis
