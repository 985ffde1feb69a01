// Models of a few layers: what their blocks repeat at the end. Sums worked out in the tests.
#include "engine/analysis/live/repeats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/answers/live/repeats.h"
#include "tests/unit/analysis/interpreter.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

using Call = Interpreter::Call;
constexpr std::string_view kModelPy = "model.py", kModulePy = "torch/nn/modules/module.py";

class Repeats : public testing::Test {
 protected:
  [[nodiscard]] std::vector<Repeat> found() {
    const OpenedStory opened(run.story);
    level_ = opened.lifetimes->final_level;
    auto repeats = find_repeats(opened.recording, *opened.lifetimes, opened.lifetimes->events.count - 1);
    EXPECT_TRUE(repeats.has_value());
    return std::move(*repeats);
  }
  void take(int32_t line, int64_t size) {
    run.at(line);
    (void)run.take(size);
  }
  // Takes 300 + 500 + 200, and gives 50 back.
  void layer(int64_t scale = 1) {
    const Call call(run, "_call_impl", kModulePy);
    const Call forward(run, "forward", kModelPy);
    take(40, 300 * scale);
    run.at(41);
    run.use(50);
    take(42, 500 * scale);
    take(43, 200 * scale);
  }
  [[nodiscard]] std::string says(const std::vector<Repeat>& repeats, size_t index = 0) {
    return answers::repeat_text(run.story.recording, repeats, index, level_);
  }

  Interpreter run;
  int64_t level_ = 0;
};

// An embedding of 400, five layers of 1,000, a head of 600: 5,000 of 6,000.
TEST_F(Repeats, LayersOfOneLoop) {
  const Call model(run, "forward", kModelPy);
  take(10, 400);
  for (int i = 0; i < 5; ++i) {
    run.at(12);
    layer();
  }
  take(14, 600);
  const auto repeats = found();
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].outer, -1);
  EXPECT_EQ(repeats[0].count, 5);
  EXPECT_EQ(repeats[0].bytes, 1000);
  EXPECT_EQ(repeats[0].blocks, 3);
  EXPECT_EQ(repeats[0].all_blocks(), 15);
  EXPECT_EQ(repeats[0].line_bytes, 500);
  EXPECT_EQ(
      says(repeats),
      "5 times 1000 B, 4.9 KiB in all (83 %): model.py:40 to 43 in forward, called at model.py:12. forward "
      "model.py:42 holds 500 B of each.");
}

// The first one sets up 100 more, the last one is at its second block: 4 whole ones, and 300 + 500 of the fifth.
TEST_F(Repeats, TheFirstSetsUpAndTheLastIsNotWhole) {
  const Call model(run, "forward", kModelPy);
  run.at(12);
  {
    const Call forward(run, "forward", kModelPy);
    take(39, 100);
  }
  for (int i = 0; i < 4; ++i) layer();
  const Call call(run, "_call_impl", kModulePy);
  const Call forward(run, "forward", kModelPy);
  take(40, 300);
  take(42, 500);
  const auto repeats = found();
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].count, 4);
  EXPECT_EQ(repeats[0].bytes, 1000);
}

// Three stages of five blocks of 100 each, and 200 of the stage itself: 3 times 700, in each 5 times 100.
TEST_F(Repeats, ALoopWithinALoopIsALevel) {
  const Call model(run, "forward", kModelPy);
  for (int stage = 0; stage < 3; ++stage) {
    run.at(12);
    const Call forward(run, "stage", kModelPy);
    take(20, 200);
    for (int i = 0; i < 5; ++i) {
      run.at(22);
      const Call block(run, "block", kModelPy);
      take(30, 60);
      take(31, 40);
    }
  }
  const auto repeats = found();
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(repeats[0].count, 3);
  EXPECT_EQ(repeats[0].bytes, 700);
  EXPECT_EQ(repeats[1].outer, 0);
  EXPECT_EQ(repeats[1].count, 5);
  EXPECT_EQ(repeats[1].bytes, 100);
  EXPECT_EQ(
      says(repeats),
      "3 times 700 B, 2.1 KiB in all (100 %): model.py:20 to 22 in stage, called at model.py:12. block "
      "model.py:30 holds 300 B of each. In each 5 times 100 B: model.py:30 to 31 in block, called at model.py:22. block "
      "model.py:30 holds 60 B of each.");
}

// An encoder of 4 layers of 1,000, then a decoder of 6 of 2,000: two repeats, the larger one first.
TEST_F(Repeats, OneLoopAfterTheOther) {
  const Call model(run, "forward", kModelPy);
  for (int i = 0; i < 4; ++i) {
    run.at(12);
    layer();
  }
  for (int i = 0; i < 6; ++i) {
    run.at(14);
    layer(2);
  }
  const auto repeats = found();
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(repeats[0].count, 6);
  EXPECT_EQ(repeats[0].bytes, 2000);
  EXPECT_EQ(repeats[1].count, 4);
  EXPECT_EQ(repeats[1].bytes, 1000);
}

TEST_F(Repeats, WhatWasGivenBackIsNotCounted) {
  const Call model(run, "forward", kModelPy);
  run.at(12);
  for (int i = 0; i < 5; ++i) {
    const Call forward(run, "forward", kModelPy);
    run.at(40);
    run.use(1000);
    take(41, 10);
  }
  const auto repeats = found();
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].bytes, 10);
}

TEST_F(Repeats, DifferentSizesAreNone) {
  const Call model(run, "forward", kModelPy);
  for (int i = 1; i < 9; ++i) take(12, 100 * i);
  EXPECT_TRUE(found().empty());
}

// Two lines, each three times, in no order that comes again: each of the lines does.
TEST_F(Repeats, LinesThatTakeTurnsInOtherOrder) {
  const Call model(run, "forward", kModelPy);
  for (const int32_t line : {10, 11, 11, 10, 10, 11}) take(line, 100);
  const auto repeats = found();
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(repeats[0].count, 3);
  EXPECT_EQ(repeats[0].bytes, 100);
}

TEST_F(Repeats, OneThatDiffersInTheMiddle) {
  // Three, another size at line 20, three: all of it does not come again, but line 21 does.
  const Call model(run, "forward", kModelPy);
  for (int i = 0; i < 7; ++i) {
    run.at(12);
    const Call forward(run, "forward", kModelPy);
    take(20, i == 3 ? 70 : 90);
    take(21, 110);
  }
  for (const Repeat& one : found()) EXPECT_LE(one.bytes, 110);
}

}  // namespace
}  // namespace gpustrata::analysis
