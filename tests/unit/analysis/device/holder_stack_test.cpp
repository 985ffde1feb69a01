// Who freed a block does not hold it.
#include "engine/analysis/device/holder_stack.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/analysis/details/block_details.h"
#include "engine/analysis/device/block_attributes.h"
#include "engine/analysis/live/weigh.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

constexpr uint64_t kOld = 0x10000, kNew = 0x20000;

// A block from before the recording, which `drop` frees, or is said to; and one that is made and freed in it.
std::string holder_of_the_old(const char* stack_of_frees) {
  Story story;
  story.alloc(kNew, 512).frames({"make"});
  story.request(kNew, 512).frames({stack_of_frees});
  story.complete(kNew, 512).frames({stack_of_frees});
  story.request(kOld, 1024).frames({"make"});
  story.complete(kOld, 1024).frames({"make"});
  const OpenedStory opened(story);
  const int32_t old = 0;  // its rank: blocks from the start come first
  const auto attributes = block_attributes(opened.recording, opened.part(), *opened.lifetimes);
  const StackId shown = shown_stack(opened.recording, *opened.lifetimes, *opened.index, old);
  EXPECT_EQ(attributes->stack[old], shown);
  const auto sums = sums_by_stack(opened.recording, opened.part(), *opened.lifetimes, std::array{old});
  EXPECT_EQ(sums->rows()[0].key, shown.value);
  const BlockDetails details = block_details(opened.recording, *opened.lifetimes, *opened.index, old);
  EXPECT_EQ(details.who.name, who_of(opened.recording, shown).name);
  EXPECT_FALSE(details.stack.is_none());  // the details show it, and say whose it is
  return std::string(details.who.name);
}

TEST(HolderStack, IsNotThatOfWhoFreed) { EXPECT_EQ(holder_of_the_old("drop"), ""); }

TEST(HolderStack, IsThatOfTheFreeWhereThatRepeatsTheAllocation) {
  EXPECT_EQ(holder_of_the_old("make"), "make");
}

}  // namespace
}  // namespace gpustrata::analysis
