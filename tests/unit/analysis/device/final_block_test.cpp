// Which block of a snapshot's segments lies at an address: one that is in use, or waits for other streams.
#include <gtest/gtest.h>

#include "engine/analysis/device/block_sources.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;

TEST(FinalBlock, IsInUseOrWaitsForItsFree) {
  Story story;
  story.segment(0x10000, 0x400);
  story.block(0x10000, 0x100, 200, BlockState::active_allocated);
  story.block(0x10100, 0x100, 256, BlockState::active_pending_free);
  story.block(0x10200, 0x200, 0, BlockState::inactive);
  ASSERT_TRUE(story.stored());
  ASSERT_TRUE(story.lifetimes().has_value());  // numbers the rows of the part
  const auto at = [&](uint64_t address) {
    return find_final_block(story.recording, story.recording.parts[0], replay::HandTrace::kDevice, address);
  };
  EXPECT_EQ(at(0x10000), 0);
  EXPECT_EQ(at(0x10100), 1);
  EXPECT_EQ(at(0x10200), -1);
  EXPECT_EQ(at(0x10080), -1);
}

}  // namespace
}  // namespace gpustrata::analysis
