#include "engine/model/clock.h"

#include <gtest/gtest.h>

namespace gpustrata::model {
namespace {

TEST(ClockTest, MicrosecondsOfASnapshotAreThemselvesAndExactNanoseconds) {
  const Clock clock;
  EXPECT_EQ(clock.microseconds(1'700'000'000'000'123), 1'700'000'000'000'123);
  EXPECT_EQ(clock.nanoseconds(1'700'000'000'000'123), 1'700'000'000'000'123'000);
  EXPECT_EQ(clock.microseconds(-1), -1);
}

TEST(ClockTest, WhatDoesNotFitIntoNanosecondsIsStillTheTimeOfTheFile) {
  const Clock clock;
  EXPECT_EQ(clock.microseconds(INT64_MAX), INT64_MAX);
  EXPECT_EQ(clock.nanoseconds(INT64_MAX), std::nullopt);
  // 2^63 / 1000 = 9223372036854775.8: the last microsecond that fits.
  EXPECT_EQ(clock.nanoseconds(9'223'372'036'854'775), 9'223'372'036'854'775'000);
  EXPECT_EQ(clock.nanoseconds(9'223'372'036'854'776), std::nullopt);
}

TEST(ClockTest, NoTimeStaysNone) {
  EXPECT_EQ(Clock{}.microseconds(kNoTime), std::nullopt);
  EXPECT_EQ(Clock{}.nanoseconds(kNoTime), std::nullopt);
  EXPECT_EQ((Clock{1, 5}.nanoseconds(kNoTime)), std::nullopt);
}

TEST(ClockTest, NanosecondsSinceABaseRoundDownToMicroseconds) {
  const Clock clock{.tick_ns = 1, .base_ns = 1'000'000'500};
  EXPECT_EQ(clock.nanoseconds(700), 1'000'001'200);
  EXPECT_EQ(clock.microseconds(700), 1'000'001);
  EXPECT_EQ((Clock{1, 0}.microseconds(-1)), -1);  // not 0: that would be later
  EXPECT_EQ((Clock{1, 1}.nanoseconds(INT64_MAX)), std::nullopt);
}

}  // namespace
}  // namespace gpustrata::model
