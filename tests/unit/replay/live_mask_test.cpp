#include "engine/replay/live_mask.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gpustrata::replay {
namespace {

TEST(LiveMask, BlocksFreedAfterTheEventAreLiveUntilTheEarliestOfTheirFrees) {
  const int32_t freed[] = {4, 5, 6, 9};
  const LiveMask mask = live_mask_of(freed, 4, 5);
  EXPECT_EQ(mask.live, 0b1100u);
  EXPECT_EQ(mask.until, 6);
}

TEST(LiveMask, NothingLiveIsNothingUntilForever) {
  const int32_t freed[] = {4, 5};
  EXPECT_EQ(live_mask_of(freed, 2, 5).live, 0u);
  EXPECT_EQ(live_mask_of(freed, 2, 5).until, INT32_MAX);
  EXPECT_EQ(live_mask_of(freed, 0, -1).live, 0u);
}

TEST(LiveMask, TheFastFormAgreesWithThePlainOne) {
  std::mt19937_64 random(20261101);
  for (int i = 0; i < 2000; ++i) {
    std::array<int32_t, 64> freed;
    const uint64_t range = i % 2 == 0 ? 10 : 0x7FFFFFFF;
    for (int32_t& event : freed) event = static_cast<int32_t>(random() % range);
    if (i % 7 == 0) freed[random() % 64] = INT32_MAX;
    const auto event = static_cast<int32_t>(random() % range) - 1;
    const LiveMask plain = live_mask_of(freed.data(), 64, event);
    const LiveMask fast = live_mask_of_64(freed.data(), event);
    ASSERT_EQ(fast.live, plain.live);
    ASSERT_EQ(fast.until, plain.until);
  }
}

}  // namespace
}  // namespace gpustrata::replay
