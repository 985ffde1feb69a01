// What the rest of a run needs at least, from something that went on. Sums worked out in the tests.
#include "engine/analysis/findings/needed_at_least.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <utility>

#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

using trace::Action;

constexpr int32_t kLayers = 20;

class NeededAtLeastTest : public testing::Test {
 protected:
  // Blocks never share an address.
  uint64_t alloc(int64_t size, const char* by) {
    next_ += 0x10000;
    story.alloc(next_, size).frames({by});
    return next_;
  }
  void layers(int32_t count, int64_t size) {
    for (int32_t i = 0; i < count; ++i) (void)alloc(size, "layer");
  }
  void fail(int64_t size, const char* by) {
    story.event(Action::oom, 0, size);
    story.frames({by});
  }
  void free(uint64_t address, int64_t size) { story.complete(address, size); }
  // A first step, which is never compared with.
  void first_step() { free(alloc(8, "first"), 8); }
  [[nodiscard]] int32_t events() const { return static_cast<int32_t>(story.recording.events.size_rows()); }

  // Of device 0, whose events are the first ones; the others are those of device 1.
  [[nodiscard]] std::optional<NeededAtLeast> needed(int32_t events_of_0,
                                                    const std::vector<int32_t>& steps_at = {}) {
    EXPECT_TRUE(story.stored());
    model::Recording& recording = story.recording;
    recording.parts[0].traces = {{0, {0, events_of_0}}};
    if (events() > events_of_0)
      recording.parts[0].traces.push_back({1, {events_of_0, events() - events_of_0}});
    recording.seal();
    const model::Part& part = recording.parts[0];
    const auto lives = replay::find_block_lives(recording, part, 0);
    const auto history = replay::undo_to_start(recording, part, 0);
    const auto index = index_device(recording, part, *lives);
    Steps steps(recording.budget);
    for (const int32_t begin : steps_at) EXPECT_TRUE(steps.begin.push_back(begin));
    steps.end = events_of_0;
    steps.from = StepsFrom::regions;
    auto found = find_needed_at_least({recording, part, *history, *lives, *index}, steps, events_of_0 - 1);
    EXPECT_TRUE(found.has_value());
    return std::move(*found);
  }

  Story story;
  uint64_t next_ = 0x7f0000000000;
};

TEST_F(NeededAtLeastTest, AStepThatWentOn) {
  // Step 1: 20 of 100, loss 1,000, grad 500: 3,500 at once. Step 2 fails at the loss: 2,000 and 1,024 were in use or asked for.
  first_step();
  layers(kLayers, 100);
  const uint64_t loss = alloc(1000, "loss"), grad = alloc(500, "grad");
  free(loss, 1000);
  free(grad, 500);
  for (uint64_t at = 0x7f0000020000; at < loss; at += 0x10000) free(at, 100);
  const int32_t third = events();
  layers(kLayers, 100);
  fail(1024, "loss");
  const auto found = needed(events(), {0, 2, third});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 2000 + 1024 + 500);
  EXPECT_EQ(found->more, 500);
  EXPECT_EQ(found->device, 0);
  EXPECT_EQ(found->step, 1);
  EXPECT_EQ(found->event, 2 + kLayers + 1);
  EXPECT_EQ(found->same, kLayers);
  EXPECT_TRUE(found->same_sizes);
  EXPECT_EQ(found->who.name, "loss");  // 1,024 of it; 500 are grad's
  EXPECT_EQ(found->done, 0);
}

// A first step makes what later ones have (state of an optimizer, caches of libraries), more than its blocks tell.
TEST_F(NeededAtLeastTest, AFirstStepTellsNothing) {
  layers(kLayers, 100);
  const uint64_t loss = alloc(1000, "loss"), grad = alloc(500, "grad");
  free(loss, 1000);
  free(grad, 500);
  for (uint64_t at = 0x7f0000010000; at < loss; at += 0x10000) free(at, 100);
  const int32_t second = events();
  layers(kLayers, 100);
  fail(1024, "loss");
  EXPECT_FALSE(needed(events(), {0, second}));
}

// 20 of 100 and the loss of 1,000, then state of 5,000 that stays: in the step that fails it is there already, 2,000 + 5,000 and
// 1,024 asked for. Nothing more is needed.
TEST_F(NeededAtLeastTest, WhatAnEarlierStepMadeOnceIsNotMadeAgain) {
  first_step();
  layers(kLayers, 100);
  const uint64_t loss = alloc(1000, "loss");
  (void)alloc(5000, "state");
  for (uint64_t at = 0x7f0000020000; at < loss; at += 0x10000) free(at, 100);
  free(loss, 1000);
  const int32_t third = events();
  layers(kLayers, 100);
  fail(1024, "loss");
  EXPECT_FALSE(needed(events(), {0, 2, third}));
}

// Steps 1 and 2 hold 20 of 100, a loss of 1,000 and a gradient of 500: 3,500. Step 3 fails at the loss, 1,024 asked for.
class WhatTheStepBeforeLeft : public NeededAtLeastTest {
 protected:
  // A step that leaves a block by `leaves` and, behind its loss, frees `frees`.
  uint64_t step(const char* leaves, uint64_t frees) {
    begins_.push_back(events());
    const uint64_t first = next_ + 0x10000;
    layers(kLayers, 100);
    const uint64_t loss = alloc(1000, "loss");
    if (frees != 0) free(frees, 300);
    const uint64_t grad = alloc(500, "grad");
    free(loss, 1000);
    free(grad, 500);
    for (uint64_t at = first; at < loss; at += 0x10000) free(at, 100);
    return leaves == nullptr ? 0 : alloc(300, leaves);
  }
  [[nodiscard]] std::optional<NeededAtLeast> fails() {
    begins_.push_back(events());
    layers(kLayers, 100);
    fail(1024, "loss");
    return needed(events(), begins_);
  }

  std::vector<int32_t> begins_{0};
};

// As the graph of the last loss, until the next one has its name: nothing tells that it stays.
TEST_F(WhatTheStepBeforeLeft, MayGoWhereTheReferenceHadNoSuchBlock) {
  first_step();
  step(nullptr, 0);
  step("graph", 0);
  const auto found = fails();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 2000 + 1024 + 500);
  EXPECT_EQ(found->more, 500 - 300);
}

TEST_F(WhatTheStepBeforeLeft, GoesWhereItWentThere) {
  first_step();
  const uint64_t batch = step("batch", 0);
  step("batch", batch);
  const auto found = fails();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 2000 + 1024 + 500);
}

TEST_F(WhatTheStepBeforeLeft, StaysWhereItStayedThere) {
  first_step();
  step("kept", 0);
  step("kept", 0);
  const auto found = fails();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 2000 + 2 * 300 + 1024 + 500);
}

TEST_F(NeededAtLeastTest, AnotherDeviceThatWentOnWithSmallerBlocks) {
  // Here 20 layers of 200, and 512 for the next. There 25 of 100: four more than the one that failed, of at least 200.
  layers(kLayers, 200);
  fail(512, "layer");
  const int32_t own = events();
  layers(kLayers + 5, 100);
  const auto found = needed(own);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 20 * 200 + 512 + 4 * 200);
  EXPECT_EQ(found->more, 4 * 200);
  EXPECT_EQ(found->device, 1);
  EXPECT_EQ(found->step, -1);
  EXPECT_FALSE(found->same_sizes);
  EXPECT_EQ(found->who.name, "layer");
  EXPECT_EQ(found->done, 20);
  EXPECT_EQ(found->blocks, 5);
}

TEST_F(NeededAtLeastTest, WhatIsNotKnownHereCountsNothing) {
  // The head comes only there, and of what size it is here nobody knows.
  layers(kLayers, 200);
  fail(512, "layer");
  const int32_t own = events();
  layers(kLayers + 1, 100);
  (void)alloc(1 << 20, "head");
  EXPECT_FALSE(needed(own));
}

TEST_F(NeededAtLeastTest, WhatIsFreedThereIsNotCounted) {
  // There two layers are freed before two others come: never more than one more than here.
  layers(kLayers, 200);
  fail(512, "layer");
  const int32_t own = events();
  const uint64_t first = next_ + 0x10000;
  layers(kLayers + 1, 100);
  free(first, 100);
  free(first + 0x10000, 100);
  layers(2, 100);
  EXPECT_FALSE(needed(own));
}

TEST_F(NeededAtLeastTest, OneThatDidSomethingElseTellsNothing) {
  layers(kLayers, 200);
  fail(512, "layer");
  const int32_t own = events();
  layers(kLayers - 1, 200);
  (void)alloc(200, "other");
  layers(10, 200);
  EXPECT_FALSE(needed(own));
}

TEST_F(NeededAtLeastTest, AFewAllocationsAreNoProof) {
  layers(kFewestSame - 1, 200);
  fail(512, "layer");
  const int32_t own = events();
  layers(100, 200);
  EXPECT_FALSE(needed(own));
}

TEST_F(NeededAtLeastTest, WithSizesThatDifferWhatIsOlderEndsIt) {
  // There a block from before the recording is freed after two more layers: what that means here is not known.
  layers(kLayers, 200);
  fail(512, "layer");
  const int32_t own = events();
  layers(kLayers + 3, 100);
  free(0x100, 1000);
  layers(10, 100);
  const auto found = needed(own);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->more, 2 * 200);
}

// Weights of 1,000. Step 1: 20 of 10 by other lines than step 2's, then gradients of 700 and 200, and 50 that the backward pass gives
// back before its last allocation. Step 2 fails at its third: 1,000 + 20 were in use, 512 asked for. At the end of its backward
// pass 1,000 + 900: 368 more.
TEST_F(NeededAtLeastTest, GradientsThatWillCome) {
  (void)alloc(1000, "weights");
  first_step();
  std::vector<uint64_t> of_step;
  for (int32_t i = 0; i < kLayers; ++i) of_step.push_back(alloc(10, "short"));
  for (const uint64_t one : of_step) free(one, 10);
  const uint64_t scratch = alloc(50, "backward"), large = alloc(700, "backward");
  free(scratch, 50);
  const uint64_t small = alloc(200, "backward");
  free(large, 700);
  free(small, 200);
  const int32_t third = events();
  layers(2, 10);
  fail(512, "layer");
  const auto found = needed(events(), {1, 3, third});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->gradients, 900);
  EXPECT_EQ(found->bytes, 1900);
  EXPECT_EQ(found->more, 1900 - 1000 - 20 - 512);
  EXPECT_EQ(found->step, 1);
}

// The same, but its gradients are there still, or its own backward pass has begun.
TEST_F(NeededAtLeastTest, GradientsThatAreThere) {
  (void)alloc(1000, "weights");
  first_step();
  for (int32_t i = 0; i < kLayers; ++i) free(alloc(10, "short"), 10);
  (void)alloc(900, "backward");
  const int32_t third = events();
  layers(2, 10);
  fail(5, "layer");
  EXPECT_FALSE(needed(events(), {1, 3, third}));
}

TEST_F(NeededAtLeastTest, ABackwardPassThatHasBegun) {
  (void)alloc(1000, "weights");
  first_step();
  for (int32_t i = 0; i < kLayers; ++i) free(alloc(10, "short"), 10);
  free(alloc(900, "backward"), 900);
  const int32_t third = events();
  layers(2, 10);
  (void)alloc(1, "backward");
  fail(5, "layer");
  EXPECT_FALSE(needed(events(), {1, 3, third}));
}

}  // namespace
}  // namespace gpustrata::analysis
