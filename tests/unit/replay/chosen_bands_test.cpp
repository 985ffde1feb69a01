#include "engine/replay/chosen_bands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using testing::ElementsAre;

// 100 bytes stay; 60 wait from event 2 to event 4 to be freed; 40 come meanwhile.
TEST(ChosenBands, AreStackedAsIfTheOthersHadNeverBeen) {
  HandTrace trace;
  trace.alloc(0x1000, 100).alloc(0x2000, 60).request(0x2000, 60).alloc(0x3000, 40).complete(0x2000, 60);
  const auto lives = trace.lifetimes();
  ASSERT_TRUE(lives.has_value());
  constexpr std::array<uint8_t, 3> last_two = {0, 1, 1};
  const auto bands = chosen_bands(*lives, &*lives, last_two, trace.budget);
  ASSERT_TRUE(bands.has_value());
  EXPECT_THAT(bands->level.span(), ElementsAre(0, 60, 60, 100, 40));
  EXPECT_EQ(bands->initial_level, 0);
  EXPECT_EQ(bands->final_level, 40);
  EXPECT_EQ(bands->peak_level, 100);
  EXPECT_EQ(bands->peak_event, 3);
  EXPECT_EQ(bands->pending.at(1), 0);
  EXPECT_EQ(bands->pending.at(2), 60);
  EXPECT_EQ(bands->pending.at(3), 60);
  EXPECT_EQ(bands->pending.at(4), 0);
  EXPECT_FALSE(bands->is_live_after(0, 4));
  EXPECT_TRUE(bands->is_live_after(1, 3));
  EXPECT_EQ(bands->size[0], 100);  // as it is

  constexpr std::array<uint8_t, 3> none = {0, 0, 0};
  const auto nothing = chosen_bands(*lives, &*lives, none, trace.budget);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_THAT(nothing->level.span(), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_EQ(nothing->peak_event, -1);
}

}  // namespace
}  // namespace gpustrata::replay
