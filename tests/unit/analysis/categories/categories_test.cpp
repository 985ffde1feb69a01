#include "engine/analysis/categories/categories.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  for (int32_t rank = 0; rank < lives.count(); ++rank)
    names.push_back(rules->names[static_cast<size_t>(rules->rules[found->rule[rank]].category)]);
  return names;
}

// Four blocks are older than a backward pass, and freed after it: the optimizer gives one back, zero_grad another, one function of
// the program, which may hold activations until the next step, the third; of the last nothing is known.
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
  EXPECT_EQ(categories(story), (std::vector<std::string>{"activation", "activation", "gradient",
                                                         "optimizer_state", "gradient"}));
}

// The older blocks are `per_parameter` for each of two parameters, 1 and 2 MiB. A forward pass, if there is one, a backward pass that
// makes a gradient of `gradients` of the two, and a step of the optimizer, if there is one; twice.
std::vector<std::string> trained(int per_parameter, bool has_forward = true, bool has_step = true,
                                 int gradients = 2) {
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
                step = stack("step", "torch/optim/adamw.py");
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
    }
    place += kApart;
    passing(has_step ? step : StackId());
    for (int i = 0; i < gradients; ++i)
      story.request(first + i * kApart, (i + 1) * kMiB).complete(first + i * kApart, (i + 1) * kMiB);
  }
  return categories(story);
}

TEST(Categories, WhatIsOlderAndKeptIsMoreThanParametersWhereGradientsAreFewer) {
  const auto counts = [](const std::vector<std::string>& all) {
    return std::pair(std::count(all.begin(), all.end(), "parameter"),
                     std::count(all.begin(), all.end(), "optimizer_state"));
  };
  using Counts = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  EXPECT_EQ(counts(trained(1)), Counts(2, 0));
  EXPECT_EQ(counts(trained(2)), Counts(4, 0));  // momentum, or another model: not told
  EXPECT_EQ(counts(trained(3)), Counts(2, 4));  // Adam
  EXPECT_EQ(counts(trained(4)), Counts(4, 4));  // and another model
  // Without a step not all gradients need be there, nor where the backward pass began before the recording.
  EXPECT_EQ(counts(trained(3, true, false)), Counts(6, 0));
  EXPECT_EQ(counts(trained(3, false, true)), Counts(6, 0));
  // Of the larger parameter, which is frozen, there is no gradient.
  EXPECT_EQ(counts(trained(3, true, true, 1)), Counts(4, 2));
}

}  // namespace
}  // namespace gpustrata::analysis
