#include "engine/analysis/stacks/call_kinds.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

TEST(CallKinds, NamesOfFunctions) {
  EXPECT_EQ(call_kind_of("cross_entropy", "site-packages/torch/nn/functional.py"), kCallsCrossEntropy);
  EXPECT_EQ(call_kind_of("at::_ops::cross_entropy_loss::call(at::Tensor const&)", "??"), kCallsCrossEntropy);
  EXPECT_EQ(call_kind_of("torch::autograd::generated::NllLossBackward0::apply(...)", "??"),
            kCallsCrossEntropy);
  EXPECT_EQ(call_kind_of("binary_cross_entropy_with_logits", "site-packages/torch/nn/functional.py"), 0);
  EXPECT_EQ(call_kind_of("log_softmax", "functional.py"), 0);
  EXPECT_EQ(call_kind_of("softmax", "nn_utils.py"), kCallsSoftmax);
  EXPECT_EQ(call_kind_of("_engine_run_backward", "torch/autograd/graph.py"), kCallsBackward);
  EXPECT_EQ(call_kind_of("__init__", "model.py"), kCallsInit);
  EXPECT_EQ(call_kind_of("forward", "attention.py"), kCallsForward | kCallsAttention);
  EXPECT_EQ(call_kind_of("step", "site-packages/torch/optim/adamw.py"), kCallsOptimizer);
  EXPECT_EQ(call_kind_of("step", "lab\\optimizer.py"), kCallsOptimizer);
}

TEST(CallKinds, TrainingIsAWord) {
  for (const std::string_view name :
       {"train", "train_step", "forward_train", "training_step", "run_training_loop"})
    EXPECT_EQ(call_kind_of(name, "fit.py"), kCallsTraining) << name;
  for (const std::string_view name : {"from_pretrained", "constrain", "trainer"})
    EXPECT_EQ(call_kind_of(name, "fit.py"), 0) << name;
}

TEST(CallKinds, WhatIsARemedyAlready) {
  EXPECT_EQ(call_kind_of("checkpoint", "site-packages/torch/utils/checkpoint.py"), kCallsCheckpoint);
  EXPECT_NE(call_kind_of("flash_attn_func", "flash_attn/flash_attn_interface.py") & kCallsFusedAttention, 0);
  EXPECT_NE(
      call_kind_of("at::_ops::_scaled_dot_product_flash_attention::call(...)", "??") & kCallsFusedAttention,
      0);
  EXPECT_NE(call_kind_of("at::_ops::_scaled_dot_product_efficient_attention::call(...)", "??") &
                kCallsFusedAttention,
            0);
  EXPECT_EQ(
      call_kind_of("at::_ops::_scaled_dot_product_attention_math::call(...)", "??") & kCallsFusedAttention,
      0);
  EXPECT_NE(call_kind_of("forward", "liger_kernel/ops/fused_linear_cross_entropy.py") & kCallsFusedLoss, 0);
}

TEST(CallKinds, OfAStackIsThatOfAllItsFrames) {
  Story story;
  const StackId stack = story.stack({"softmax", "attention", "forward"});
  story.recording.seal();
  CallKinds kinds(story.recording);
  ASSERT_TRUE(kinds.find());
  EXPECT_EQ(kinds.of(stack), kCallsSoftmax | kCallsAttention | kCallsForward);
  EXPECT_EQ(kinds.of({}), 0);
}

}  // namespace
}  // namespace gpustrata::analysis
