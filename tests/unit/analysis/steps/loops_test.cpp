// Programs of a few lines: which of their loops counts.
#include "engine/analysis/steps/loops.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/analysis/interpreter.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

using Call = Interpreter::Call;
constexpr std::string_view kFile = "fit.py", kOptimizer = "torch/optim/sgd.py",
                           kModule = "torch/nn/modules/module.py";

class Loops : public testing::Test {
 protected:
  [[nodiscard]] FoundLoop found() {
    const OpenedStory opened(run.story);
    auto loop = find_loop(opened.recording, *opened.lifetimes);
    EXPECT_TRUE(loop.has_value());
    return std::move(*loop);
  }
  [[nodiscard]] std::string name(FrameId frame) const {
    const trace::Frame& one = run.story.recording.frames[frame];
    return std::string(run.story.recording.strings.view(one.name)) + ":" + std::to_string(one.line);
  }
  void use(int32_t line) {
    run.at(line);
    run.use(100);
  }
  void optimize(int32_t line) {
    run.at(line);
    const Call optimizer(run, "step", kOptimizer);
    use(7);
  }
  [[nodiscard]] int32_t events() const {
    return static_cast<int32_t>(run.story.recording.events.size_rows());
  }

  Interpreter run;
};

// Lines 10, 12, 14 five times: line 10 sets up before, line 20 comes after.
TEST_F(Loops, LinesOfAFunctionThatRepeat) {
  const Call main(run, "main", kFile);
  use(10);
  std::vector<int32_t> begins;
  for (int i = 0; i < 5; ++i) {
    begins.push_back(events());
    for (const int32_t line : {12, 14, 16}) use(line);
  }
  const int32_t end = events() - 1;  // a use is an allocation and a free
  use(20);
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_EQ(name(one.loop->place.function).substr(0, 5), "main:");
  EXPECT_TRUE(one.loop->place.call.is_none());
  EXPECT_EQ(one.loop->place.first_line, 12);
  EXPECT_EQ(one.loop->place.last_line, 16);
  EXPECT_EQ(std::vector<int32_t>(one.loop->begin.begin(), one.loop->begin.end()), begins);
  EXPECT_EQ(one.loop->end, end);
  EXPECT_FALSE(one.loop->goes_on);
}

// main calls step seven times at line 37, and evaluate at line 38 after the third and the sixth.
TEST_F(Loops, AFunctionThatIsCalledAgain) {
  const Call main(run, "main", kFile);
  for (int i = 0; i < 7; ++i) {
    run.at(37);
    {
      const Call step(run, "train_step", kFile);
      for (const int32_t line : {50, 52, 54}) use(line);
    }
    if (i % 3 != 2) continue;
    run.at(38);
    const Call evaluate(run, "evaluate", kFile);
    for (const int32_t line : {60, 62, 64}) use(line);
  }
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_EQ(name(one.loop->place.function).substr(0, 11), "train_step:");
  EXPECT_EQ(one.loop->place.first_line, 50);
  EXPECT_EQ(one.loop->place.last_line, 54);
  EXPECT_EQ(name(one.loop->place.call), "main:37");
  EXPECT_EQ(one.loop->count(), 7);
  EXPECT_TRUE(one.loop->goes_on);
}

// Three epochs of four steps of two microbatches.
TEST_F(Loops, TheInnermostAroundAnOptimizer) {
  const Call main(run, "main", kFile);
  for (int epoch = 0; epoch < 3; ++epoch) {
    use(10);
    for (int i = 0; i < 4; ++i) {
      use(12);
      for (int micro = 0; micro < 2; ++micro) {
        for (const int32_t line : {14, 15}) use(line);
      }
      optimize(17);
    }
  }
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_TRUE(one.loop->trains);
  EXPECT_EQ(one.loop->count(), 12);
}

TEST_F(Loops, WithoutAnOptimizerTheOutermost) {
  const Call main(run, "main", kFile);
  for (int i = 0; i < 6; ++i) {
    use(10);
    for (int token = 0; token < 9; ++token) {
      for (const int32_t line : {14, 15}) use(line);
    }
    use(17);
  }
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_EQ(one.loop->count(), 6);
}

TEST_F(Loops, CallsOfAnEpochAreNoSteps) {
  const Call main(run, "main", kFile);
  for (int epoch = 0; epoch < 5; ++epoch) {
    run.at(10);
    {
      const Call call(run, "train_epoch", kFile);
      for (int i = 0; i < 6; ++i) {
        for (const int32_t line : {24, 25}) use(line);
      }
    }
    run.at(11);
    const Call call(run, "test", kFile);
    use(40);
  }
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_EQ(one.loop->count(), 30);
}

TEST_F(Loops, LayersThatKeepAllAreNoSteps) {
  const Call main(run, "main", kFile);
  for (int layer = 0; layer < 12; ++layer) {
    for (const int32_t line : {14, 15, 16}) {
      run.at(line);
      run.take(1000);
    }
  }
  const FoundLoop none = found();
  EXPECT_FALSE(none.loop.has_value());
  EXPECT_EQ(none.why_not, NoLoop::keeps);
}

TEST_F(Loops, WhatRepeatsWithinModulesIsNone) {
  const Call main(run, "main", kFile);
  const Call call(run, "_call_impl", kModule);
  const Call forward(run, "forward", kFile);
  for (int layer = 0; layer < 12; ++layer) {
    for (const int32_t line : {14, 15}) use(line);
  }
  const FoundLoop none = found();
  EXPECT_FALSE(none.loop.has_value());
  EXPECT_EQ(none.why_not, NoLoop::no_repeat);
}

TEST_F(Loops, WithoutPythonNothingIsKnown) {
  for (int i = 0; i < 5; ++i) run.give(run.take_in_backward(100));
  EXPECT_EQ(found().why_not, NoLoop::no_calls);
}

TEST_F(Loops, AProgramMayLieInAFolderCalledTorch) {
  const Call main(run, "main", "/home/me/torch/fit.py");
  for (int i = 0; i < 5; ++i) {
    for (const int32_t line : {12, 14, 16}) use(line);
  }
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_EQ(one.loop->count(), 5);
}

// Threads of a library come in between, and change nothing.
TEST_F(Loops, OtherThreadsAreNotFollowed) {
  const StackId worker = run.story.recording.stacks.intern(std::vector<FrameId>{
      run.story.frame("load", kFile, 3), run.story.frame("run", "/lib/threading.py", 975)});
  const Call main(run, "main", kFile);
  for (int i = 0; i < 5; ++i) {
    for (const int32_t line : {12, 14}) {
      use(line);
      run.give(run.take(50, worker));
    }
  }
  const FoundLoop one = found();
  ASSERT_TRUE(one.loop.has_value());
  EXPECT_EQ(one.loop->count(), 5);
}

}  // namespace
}  // namespace gpustrata::analysis
