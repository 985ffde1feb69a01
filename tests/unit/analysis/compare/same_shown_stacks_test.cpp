// Stacks that read the same, because they differ in hidden frames only, are one part of what is compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/analysis/compare/carried_stacks.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

TEST(CarriedStacks, StacksThatDifferInHiddenFramesOnlyAreOne) {
  Story story;
  story.alloc(0x10000, 100).frames({"first"});
  story.alloc(0x20000, 10).frames({"twice"});
  story.alloc(0x30000, 20).frames({"twice", "_PyEval_EvalFrameDefault"});
  story.alloc(0x40000, 3).frames({"last"});
  ASSERT_TRUE(story.stored());
  const auto lives = story.lifetimes();
  ASSERT_TRUE(lives.has_value());
  const auto top =
      find_top(story.recording, story.recording.parts[0], *lives, When::alive(3), By::shown, kAllGroups);
  ASSERT_TRUE(top.has_value());
  const auto stacks = carried_stacks({story.recording, *top});
  ASSERT_TRUE(stacks.has_value());
  std::vector<std::pair<int64_t, int64_t>> bytes_and_blocks;
  for (const CarriedStack& carried : stacks->stacks)
    bytes_and_blocks.emplace_back(carried.bytes, carried.blocks);
  std::sort(bytes_and_blocks.begin(), bytes_and_blocks.end());
  EXPECT_EQ(bytes_and_blocks, (std::vector<std::pair<int64_t, int64_t>>{{3, 1}, {30, 2}, {100, 1}}));
}

}  // namespace
}  // namespace gpustrata::analysis
