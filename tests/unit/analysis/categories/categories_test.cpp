#include "engine/analysis/categories/categories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/device/block_attributes.h"
#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

// What the rules call each block, in the order of ranks.
std::vector<std::string> categories(Story& story) {
  const OpenedStory opened(story);
  const auto& lives = *opened.lifetimes;
  auto attributes = block_attributes(opened.recording, opened.part(), lives);
  auto rules = parse_category_rules(kCategoryRules);
  const Steps none(opened.recording.budget);
  EXPECT_TRUE(attributes && rules);
  auto found = find_categories(opened.recording, opened.part(), lives, attributes->stack, none, *rules);
  EXPECT_TRUE(found);
  std::vector<std::string> names;
  for (int32_t rank = 0; rank < lives.count(); ++rank) {
    const uint8_t rule = found->rule[rank];
    names.push_back(rule == Categories::kNoRule
                        ? "unknown"
                        : rules->names[static_cast<size_t>(rules->rules[rule].category)]);
  }
  return names;
}

// Four blocks are older than a backward pass, and freed after it: the optimizer gives one back, zero_grad another, one function of
// the program the third, which may be a gradient or an activation that a name still held; of the last nothing is known.
TEST(Categories, WhatIsOlderIsToldByWhoFreesIt) {
  Story story;
  constexpr uint64_t kApart = 4 * kMiB;
  story.segment(kBase, 40 * kMiB);
  const auto stack = [&](const char* function, const char* file) {
    return story.recording.stacks.intern(std::vector<FrameId>{story.frame(function, file, 1)});
  };
  story.alloc(kBase + 9 * kApart, 100);
  story.recording.events.stack.back() = stack("backward", "torch/autograd/__init__.py");
  const StackId freed_by[] = {stack("step", "torch/optim/adamw.py"),
                              stack("zero_grad", "torch/optim/optimizer.py"),
                              stack("train", "train.py"),
                              {}};
  for (uint64_t i = 0; i < 4; ++i) {
    for (const bool is_request : {true, false}) {
      if (is_request)
        story.request(kBase + i * kApart, kMiB);
      else
        story.complete(kBase + i * kApart, kMiB);
      // Whoever makes the allocator look that it is done has nothing to do with it.
      story.recording.events.stack.back() = is_request ? freed_by[i] : stack("step", "torch/optim/adamw.py");
    }
  }
  // What is older is ranked by its free, the last one first.
  EXPECT_EQ(categories(story),
            (std::vector<std::string>{"unknown", "unknown", "gradient", "optimizer_state", "gradient"}));
}

// An older block that a backward pass made, then allocations outside of one: nine of them, and that pass is over.
TEST(Categories, WhatAPassBeforeTheRecordingLeftIsAGradient) {
  const auto after = [](int allocations) {
    Story story;
    story.segment(kBase, 40 * kMiB);
    story.block(kBase, kMiB, kMiB, model::BlockState::active_allocated);
    story.block_frames({"backward"});
    for (int i = 0; i < allocations; ++i) {
      story.alloc(kBase + 2 * kMiB, 1000).frames({"train"});
      story.request(kBase + 2 * kMiB, 1000).complete(kBase + 2 * kMiB, 1000);
    }
    return categories(story)[0];
  };
  EXPECT_EQ(after(9), "gradient");
  EXPECT_EQ(after(8), "unknown");  // the pass may go on
}

// Two older blocks and a forward pass, no training: weights, but for what is as large as PyTorch makes cuBLAS's workspace.
TEST(Categories, ACublasWorkspaceIsNoParameter) {
  const auto of_size = [](int64_t size) {
    Story story;
    story.segment(kBase, 40 * kMiB);
    story.block(kBase, kMiB, kMiB, model::BlockState::active_allocated);
    story.block(kBase + kMiB, size, size, model::BlockState::active_allocated);
    story.alloc(kBase + 20 * kMiB, 1000);
    story.recording.events.stack.back() = story.recording.stacks.intern(
        std::vector<FrameId>{story.frame("_call_impl", "torch/nn/modules/module.py", 1)});
    story.request(kBase + 20 * kMiB, 1000).complete(kBase + 20 * kMiB, 1000);
    std::vector<std::string> found = categories(story);
    std::sort(found.begin(), found.end());
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(of_size(8'519'680), (Names{"parameter", "temporary", "unknown"}));
  EXPECT_EQ(of_size(8'520'192), (Names{"parameter", "parameter", "temporary"}));
}

// A pass makes four blocks and frees one; then it is over, or its next request fails: whether it would have kept the others
// is not known, but of what accumulates gradients.
TEST(Categories, WhatAPassThatFailedWouldHaveKeptIsNotKnown) {
  const auto made = [](bool fails) {
    Story story;
    story.segment(kBase, 40 * kMiB);
    for (uint64_t i = 0; i < 4; ++i) {
      story.alloc(kBase + i * kMiB, 1000);
      if (i == 1)
        story.frames({"AccumulateGrad", "backward"});
      else
        story.frames({"backward"});
      if (i == 2) story.request(kBase, 1000).complete(kBase, 1000);
    }
    if (fails) {
      story.event(trace::Action::oom, kMiB, 40 * kMiB);
      story.frames({"backward"});
      for (uint64_t i = 1; i < 4; ++i) story.request(kBase + i * kMiB, 1000).complete(kBase + i * kMiB, 1000);
    }
    return categories(story);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(made(false), (Names{"temporary", "gradient", "gradient", "gradient"}));
  EXPECT_EQ(made(true), (Names{"temporary", "gradient", "unknown", "unknown"}));
}

// The older blocks are `per_parameter` for each of two parameters, 1 and 2 MiB. A forward pass, if there is one, a backward pass that
// makes a gradient of `gradients` of the two, and a step of the optimizer, if there is one; twice. The first step of one that
// `makes_state` makes as much as there are parameters, which stays. The
// gradient of the larger is made `within` a function.
std::vector<std::string> trained(int per_parameter, bool has_forward = true,
                                 const char* optimizer = "torch/optim/adamw.py", int gradients = 2,
                                 bool makes_state = false, const char* within = "") {
  Story story;
  constexpr uint64_t kApart = 4 * kMiB;
  uint64_t place = kBase;
  story.segment(kBase, 400 * kMiB);
  for (int i = 0; i < per_parameter; ++i) {
    for (const int64_t size : {kMiB, 2 * kMiB}) {
      story.block(place, size, size, model::BlockState::active_allocated);
      place += kApart;
    }
  }
  const auto stack = [&](const char* function, const char* file) {
    return story.recording.stacks.intern(std::vector<FrameId>{story.frame(function, file, 1)});
  };
  const StackId forward = stack("_call_impl", "torch/nn/modules/module.py"),
                backward = stack("backward", "torch/autograd/__init__.py"),
                step = stack("step", optimizer == nullptr ? "" : optimizer);
  const auto passing = [&](StackId by) {  // twelve end a backward pass
    for (int i = 0; i < 12; ++i) {
      story.alloc(place, 1000);
      story.recording.events.stack.back() = by;
      story.request(place, 1000).complete(place, 1000);
    }
  };
  for (int round = 0; round < 2; ++round) {
    passing(has_forward ? forward : StackId());
    const uint64_t first = place + kApart;
    for (int i = 0; i < gradients; ++i) {
      place += kApart;
      story.alloc(place, (i + 1) * kMiB);
      story.recording.events.stack.back() = backward;
      if (i == 1 && within[0] != 0) story.frames({within, "backward"});
    }
    place += kApart;
    passing(optimizer == nullptr ? StackId() : step);
    for (int i = 0; i < 2 && round == 0 && makes_state; ++i) {
      place += kApart;
      story.alloc(place, (i + 1) * kMiB);
      story.recording.events.stack.back() = step;
    }
    place += kApart;
    for (int i = 0; i < gradients; ++i)
      story.request(first + i * kApart, (i + 1) * kMiB).complete(first + i * kApart, (i + 1) * kMiB);
  }
  return categories(story);
}

TEST(Categories, OfWhatIsOlderAndKeptAsMuchAsHasGradientsIsParameters) {
  const auto counts = [](const std::vector<std::string>& all) {
    return std::array{std::count(all.begin(), all.end(), "parameter"),
                      std::count(all.begin(), all.end(), "optimizer_state"),
                      std::count(all.begin(), all.end(), "unknown")};
  };
  // Parameters, state of the optimizer, not known.
  using Counts = std::array<std::ptrdiff_t, 3>;
  EXPECT_EQ(counts(trained(1)), (Counts{2, 0, 0}));
  EXPECT_EQ(counts(trained(2)), (Counts{2, 0, 2}));  // another model, or an average of this one
  EXPECT_EQ(counts(trained(3)), (Counts{2, 4, 0}));  // Adam's
  EXPECT_EQ(counts(trained(4)), (Counts{2, 4, 2}));  // and another model
  // Of another optimizer it is not known what it keeps: momentum and an average are three times as much, too.
  EXPECT_EQ(counts(trained(3, true, "torch/optim/sgd.py")), (Counts{2, 0, 4}));
  // What Adam makes in the recording is no older: then it is two other models.
  EXPECT_EQ(counts(trained(3, true, "torch/optim/adamw.py", 2, true)), (Counts{2, 2, 4}));
  // Without a step not all gradients need be there, nor where no forward pass is.
  EXPECT_EQ(counts(trained(3, true, nullptr)), (Counts{0, 0, 6}));
  EXPECT_EQ(counts(trained(3, false)), (Counts{0, 0, 6}));
  // What the backward pass makes of the larger size is cuBLAS's: no gradient.
  EXPECT_EQ(counts(trained(1, true, "torch/optim/adamw.py", 2, false, "at::cuda::getNewWorkspace()")),
            (Counts{1, 0, 1}));
  // Of the larger parameter there is no gradient: it may be frozen.
  EXPECT_EQ(counts(trained(3, true, "torch/optim/adamw.py", 1)), (Counts{1, 2, 3}));
}

}  // namespace
}  // namespace gpustrata::analysis
