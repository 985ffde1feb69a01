// Programs that run out of memory in a line that says what helps. A segment of 1 GiB, all of it in use; sums in the tests.
#include "engine/analysis/findings/operator_remedies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/answers/findings/out_of_memory.h"
#include "tests/unit/analysis/interpreter.h"
#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using Call = Interpreter::Call;
using testing::ElementsAre;
using testing::HasSubstr;
constexpr std::string_view kModelFile = "model.py", kLossFile = "loss.py",
                           kFunctionalFile = "torch/nn/functional.py";

class OperatorRemedies : public testing::Test {
 protected:
  void take(int32_t line, int64_t mib) {
    run.at(line);
    (void)run.take(mib * kMiB);
  }
  void fail(int64_t mib) {
    run.story.event(trace::Action::oom, 0, mib * kMiB);
    run.story.recording.events.stack.back() = run.stack();
  }
  // The last failure: nothing is cached, and the device is full.
  void explain() {
    run.story.segment(kBase, 1024 * kMiB);
    run.story.block(kBase, 1024 * kMiB, 1024 * kMiB, model::BlockState::active_allocated);
    const OpenedStory opened(run.story);
    replay::MemoryAt memory(*opened.history, opened.recording.budget);
    auto events = explain_all_out_of_memory(opened.context(), memory);
    ASSERT_TRUE(events.has_value());
    ASSERT_EQ(events->explained.size(), 1u);
    ASSERT_EQ(events->explained[0].verdict, Verdict::full);
    ASSERT_TRUE(add_operator_remedies(opened.context(), *events).has_value());
    one = std::move(events->explained[0]);
  }
  [[nodiscard]] const Remedy* of(RemedyKind kind) const {
    for (const Remedy& remedy : one.remedies) {
      if (remedy.kind == kind) return &remedy;
    }
    return nullptr;
  }
  [[nodiscard]] std::string says(const Remedy& remedy) const {
    return answers::remedy_text(run.story.recording, one, remedy);
  }

  static constexpr uint64_t kBase = uint64_t{1} << 50;
  Interpreter run;
  ExplainedOutOfMemory one;
};

// 5 layers of 100 + 60, then 90 are asked for: 4 of them, 640, need not be there at once.
TEST_F(OperatorRemedies, LayersThatAreKeptForTheBackwardPass) {
  const Call main(run, "train_step", "fit.py");
  const Call model(run, "forward", kModelFile);
  for (int i = 0; i < 5; ++i) {
    run.at(12);
    const Call forward(run, "forward", kModelFile);
    take(40, 100);
    take(41, 60);
  }
  run.at(14);
  fail(90);
  explain();
  const Remedy* const remedy = of(RemedyKind::checkpoint);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->bytes, 640 * kMiB);
  EXPECT_EQ(remedy->repeats, 5);
  EXPECT_EQ(remedy->each, 160 * kMiB);
  EXPECT_EQ(remedy->blocks, 10);
  EXPECT_EQ(
      says(*remedy),
      "Checkpoint model.py:40 to 41 in forward, called at model.py:12 (torch.utils.checkpoint): 5 times 160.0 MiB are "
      "kept for the backward pass. Recomputing them one at a time saves up to 640.0 MiB; what each passes on to the "
      "next stays.");
  // 640 come before 90 that live blocks have too many, these before the line to look at (500 of one line), and that all of the
  // request be left out is no remedy.
  std::vector<RemedyKind> kinds;
  for (const Remedy& each : one.remedies) kinds.push_back(each.kind);
  EXPECT_THAT(kinds, ElementsAre(RemedyKind::checkpoint, RemedyKind::use_less, RemedyKind::largest_holder,
                                 RemedyKind::other_processes));
}

TEST_F(OperatorRemedies, WhatOnlyInfersKeepsNothingForABackwardPass) {
  const Call main(run, "generate", "serve.py");
  const Call model(run, "forward", kModelFile);
  for (int i = 0; i < 5; ++i) {
    run.at(12);
    const Call forward(run, "forward", kModelFile);
    take(40, 100);
  }
  run.at(14);
  fail(90);
  explain();
  EXPECT_EQ(of(RemedyKind::checkpoint), nullptr);
}

TEST_F(OperatorRemedies, WhatIsCheckpointedAlready) {
  const Call main(run, "train_step", "fit.py");
  const Call model(run, "forward", kModelFile);
  for (int i = 0; i < 5; ++i) {
    run.at(12);
    const Call checkpoint(run, "checkpoint", "torch/utils/checkpoint.py");
    const Call forward(run, "forward", kModelFile);
    take(40, 100);
  }
  run.at(14);
  fail(90);
  explain();
  EXPECT_EQ(of(RemedyKind::checkpoint), nullptr);
}

// 512 by the cross entropy, and 480 asked for by it: 992, of which an eighth, 124, is there at a time in 8 chunks.
TEST_F(OperatorRemedies, ACrossEntropy) {
  const Call main(run, "main", "fit.py");
  take(3, 400);
  run.at(5);
  const Call loss(run, "cross_entropy_loss", kLossFile);
  take(22, 512);
  run.at(21);
  {
    const Call inner(run, "cross_entropy", kFunctionalFile);
    fail(480);
  }
  explain();
  const Remedy* const remedy = of(RemedyKind::chunked_loss);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->bytes, 868 * kMiB);
  EXPECT_EQ(one.remedies[0].kind, RemedyKind::chunked_loss);
  EXPECT_THAT(
      says(*remedy),
      HasSubstr("the cross entropy (cross_entropy_loss loss.py:22) holds 512.0 MiB in 1 block and asks for "
                "480.0 MiB more. In 8 chunks"));
}

TEST_F(OperatorRemedies, ALossThatIsFusedAlready) {
  const Call main(run, "main", "fit.py");
  take(3, 400);
  const Call loss(run, "fused_linear_cross_entropy_forward",
                  "liger_kernel/ops/fused_linear_cross_entropy.py");
  take(22, 512);
  fail(480);
  explain();
  EXPECT_EQ(of(RemedyKind::chunked_loss), nullptr);
}

// 3 softmaxes of 200, of attention; scores that are made before them, of 200, too, are not told apart from other things.
TEST_F(OperatorRemedies, ScoresOfAttention) {
  const Call main(run, "generate", "fit.py");
  for (int i = 0; i < 3; ++i) {
    const Call attention(run, "forward", "attention.py");
    run.at(30);
    const Call softmax(run, "softmax", kFunctionalFile);
    take(1, 200);
  }
  take(4, 100);
  fail(120);
  explain();
  const Remedy* const remedy = of(RemedyKind::fused_attention);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->bytes, 600 * kMiB);
  EXPECT_THAT(says(*remedy),
              HasSubstr("their softmax (forward attention.py:30) holds 600.0 MiB in 3 blocks."));
}

TEST_F(OperatorRemedies, AttentionThatIsFusedAlready) {
  const Call main(run, "generate", "fit.py");
  {
    const Call attention(run, "forward", "attention.py");
    const Call softmax(run, "softmax", kFunctionalFile);
    take(1, 200);
  }
  {
    const Call attention(run, "flash_attn_func", "flash_attn/flash_attn_interface.py");
    take(1, 100);
  }
  fail(120);
  explain();
  EXPECT_EQ(of(RemedyKind::fused_attention), nullptr);
}

// A softmax over experts, and one of 20 of 920 (a fiftieth) in attention.
TEST_F(OperatorRemedies, OtherSoftmaxesAndSmallOnes) {
  const Call main(run, "generate", "fit.py");
  {
    const Call router(run, "forward", "moe.py");
    const Call softmax(run, "softmax", kFunctionalFile);
    take(1, 800);
  }
  {
    const Call attention(run, "forward", "attention.py");
    const Call softmax(run, "softmax", kFunctionalFile);
    take(1, 20);
  }
  fail(100);
  explain();
  EXPECT_EQ(of(RemedyKind::fused_attention), nullptr);
}

}  // namespace
}  // namespace gpustrata::analysis
