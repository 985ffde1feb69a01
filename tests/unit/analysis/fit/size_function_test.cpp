// Sizes as functions of parameters: all numbers worked out by hand.
#include "engine/analysis/fit/size_function.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpustrata::analysis {
namespace {

[[nodiscard]] Point at(int64_t first, int64_t second = 1) { return {first, second, 1, 1}; }

// What a size of these recordings is foretold to be.
[[nodiscard]] ForetoldSize foretold(const std::vector<Point>& points, const std::vector<int64_t>& sizes,
                                    const Point& to, size_t parameters = 1) {
  const Fitting fitting(points, parameters);
  return fitting.foretell(fitting.fit(sizes), sizes, to);
}
void expect_exactly(const ForetoldSize& size, int64_t bytes) {
  EXPECT_FALSE(size.too_large);
  EXPECT_EQ(size.value, bytes);
  EXPECT_EQ(size.low, bytes);
  EXPECT_EQ(size.high, bytes);
}

TEST(SizeFunction, WhatIsTheSameInAllRecordingsStays) {
  expect_exactly(foretold({at(4), at(8)}, {1000, 1000}, at(29)), 1000);
}

TEST(SizeFunction, ProportionalSizesAreConfirmedByTwoRecordings) {
  const Fitting fitting(std::vector<Point>{at(4), at(8)}, 1);
  const SizeFunction function = fitting.fit(std::vector<int64_t>{400, 800});
  EXPECT_TRUE(function.confirmed);
  expect_exactly(foretold({at(4), at(8)}, {400, 800}, at(29)), 2900);
}

TEST(SizeFunction, ASquareIsSeenInTwoRecordings) {
  // 3 * 128^2 and 3 * 256^2.
  expect_exactly(foretold({at(128), at(256)}, {49152, 196608}, at(1024)), 3 * 1024 * 1024);
}

TEST(SizeFunction, OneMoreThanTheBatchIsAssumedFromTwoAndConfirmedByThree) {
  // 4 * (batch + 1), as offsets of sequences are.
  const Fitting two(std::vector<Point>{at(4), at(8)}, 1);
  const SizeFunction assumed = two.fit(std::vector<int64_t>{20, 36});
  EXPECT_EQ(assumed.kind, SizeFunction::Kind::polynomial);
  EXPECT_FALSE(assumed.confirmed);
  expect_exactly(foretold({at(4), at(8)}, {20, 36}, at(16)), 68);
  const Fitting three(std::vector<Point>{at(4), at(8), at(10)}, 1);
  EXPECT_TRUE(three.fit(std::vector<int64_t>{20, 36, 44}).confirmed);
}

TEST(SizeFunction, OneRowLessThanTheLength) {
  // 10 * (length - 1).
  expect_exactly(foretold({at(4), at(8)}, {30, 70}, at(100)), 990);
}

TEST(SizeFunction, ThreeTermsThroughThreeRecordingsAreAssumed) {
  // 7 + 5 x + 2 x^2 at 1, 2, 4: 14, 25, 59; at 10: 257.
  const Fitting fitting(std::vector<Point>{at(1), at(2), at(4)}, 1);
  EXPECT_FALSE(fitting.fit(std::vector<int64_t>{14, 25, 59}).confirmed);
  expect_exactly(foretold({at(1), at(2), at(4)}, {14, 25, 59}, at(10)), 257);
}

TEST(SizeFunction, ProductsOfTwoParameters) {
  // 2 * batch * length^2, as attention scores are: 2 * 4 * 16 and so on.
  const std::vector<Point> points{at(4, 4), at(8, 4), at(4, 10)};
  expect_exactly(foretold(points, {128, 256, 800}, at(5, 100), 2), 100000);
}

TEST(SizeFunction, RoundingUpIsBoundedFromBothSides) {
  // 8 * ceil(7.5 x / 8): 7.5 -> 8, 22.5 -> 24, 75 -> 80. More than 0, 16/3 and 7.2 for each, at most 8: 7.2 to 8. At 100
  // more than 720 (728) to 800; 752 is right.
  const ForetoldSize size = foretold({at(1), at(3), at(10)}, {8, 24, 80}, at(100));
  expect_exactly(size, 800);  // 8 x gives all three: the simplest that does
  // 8, 16, 40 at 1, 2, 5 is 8 x; 8, 16, 32 is not: more than 0, 4, 24/5, at most 8, 8, 32/5: 4.8 to 6.4. At 10 more than 48
  // (56) to 64.
  const ForetoldSize rounded = foretold({at(1), at(2), at(5)}, {8, 16, 32}, at(10));
  EXPECT_EQ(rounded.low, 56);
  EXPECT_EQ(rounded.high, 64);
}

TEST(SizeFunction, WhatNothingExplainsLiesBetweenNoGrowthAndTheSquare) {
  // Nothing of few terms goes through these four; 700 at 8 is the nearest to 16.
  const ForetoldSize size = foretold({at(1), at(2), at(4), at(8)}, {300, 100, 900, 700}, at(16));
  EXPECT_EQ(size.low, 100);             // the smallest recorded, if it does not grow
  EXPECT_EQ(size.value, 1400);          // twice the nearest
  EXPECT_EQ(size.high, 300 * 16 * 16);  // 76,800; the others: 6,400, 14,400, 2,800
}

TEST(SizeFunction, ARequestThatIsNotInARecordingIsNotExplained) {
  const Fitting fitting(std::vector<Point>{at(4), at(8)}, 1);
  EXPECT_EQ(fitting.fit(std::vector<int64_t>{0, 512}).kind, SizeFunction::Kind::unexplained);
}

TEST(SizeFunction, WhatTwoRecordingsDoNotTellApartIsBounded) {
  // Batch doubles and length is four times as long: a size that is four times as large grows with batch^2 or length.
  const ForetoldSize size = foretold({at(2, 100), at(4, 400), at(4, 500)}, {400, 1600, 2000}, at(4, 600), 2);
  expect_exactly(size, 2400);  // the third recording tells: 4 * length
  const ForetoldSize either = foretold({at(2, 100), at(4, 400)}, {400, 1600}, at(4, 600), 2);
  EXPECT_EQ(either.low, 1600);
  EXPECT_EQ(either.high, 2400);
}

TEST(SizeFunction, SizesBeyondAllDevicesAreSaid) {
  EXPECT_TRUE(foretold({at(1), at(2)}, {int64_t{1} << 58, int64_t{1} << 59}, at(8)).too_large);
  EXPECT_TRUE(foretold({at(1), at(2)}, {1, 4}, at(kLargestParameter)).too_large);
  EXPECT_TRUE(foretold({at(1), at(2), at(4), at(8)}, {300, 100, 900, int64_t{1} << 50}, at(kLargestParameter))
                  .too_large);
}

TEST(SizeFunction, LargeNumbersDoNotOverflow) {
  // 2^31 bytes for each of 2^28: 2^59, and 2^58 at half.
  const int64_t many = int64_t{1} << 28;
  expect_exactly(foretold({at(many / 2), at(many)}, {int64_t{1} << 58, int64_t{1} << 59}, at(many / 4)),
                 int64_t{1} << 57);
}

}  // namespace
}  // namespace gpustrata::analysis
