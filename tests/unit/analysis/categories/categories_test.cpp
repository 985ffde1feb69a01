#include "engine/analysis/categories/categories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
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
      story.recording.events.stack.back() = freed_by[i];
    }
  }
  // What is older is ranked by its free, the last one first.
  EXPECT_EQ(categories(story), (std::vector<std::string>{"activation", "activation", "gradient",
                                                         "optimizer_state", "gradient"}));
}

// The older blocks are `per_parameter` for each of two parameters, 1 and 2 MiB; a step makes a gradient of each, twice, and frees it.
std::vector<std::string> trained(int per_parameter) {
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
  const StackId backward = story.recording.stacks.intern(
      std::vector<FrameId>{story.frame("backward", "torch/autograd/__init__.py", 1)});
  for (int step = 0; step < 2; ++step) {
    const uint64_t first = place;
    for (const int64_t size : {kMiB, 2 * kMiB}) {
      story.alloc(place, size);
      story.recording.events.stack.back() = backward;
      place += kApart;
    }
    for (int i = 0; i < 12; ++i) {  // of other code: the pass ends
      story.alloc(place, 1000).request(place, 1000).complete(place, 1000);
    }
    story.request(first, kMiB).complete(first, kMiB);
    story.request(first + kApart, 2 * kMiB).complete(first + kApart, 2 * kMiB);
  }
  return categories(story);
}

TEST(Categories, WhatIsOlderAndKeptIsMoreThanParametersWhereGradientsAreFewer) {
  const auto count = [](const std::vector<std::string>& all, std::string_view name) {
    return std::count(all.begin(), all.end(), name);
  };
  // Parameters alone; with momentum; with Adam's two.
  EXPECT_EQ(count(trained(1), "parameter"), 2);
  EXPECT_EQ(count(trained(1), "optimizer_state"), 0);
  EXPECT_EQ(count(trained(2), "parameter"), 2);
  EXPECT_EQ(count(trained(2), "optimizer_state"), 2);
  EXPECT_EQ(count(trained(3), "parameter"), 2);
  EXPECT_EQ(count(trained(3), "optimizer_state"), 4);
  EXPECT_EQ(count(trained(3), "gradient"), 4);
}

}  // namespace
}  // namespace gpustrata::analysis
