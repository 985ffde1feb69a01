// Ops as lanes: rows, columns of pixels, the axis.
#include "engine/replay/span_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/replay/hand_spans.h"

namespace gpustrata::replay {
namespace {

using testing::ElementsAre;

// "0-100" for one op, "0-7x3" for three together.
[[nodiscard]] std::vector<std::string> shown(const HandSpans& hand, const LaneGrid& grid, int32_t row,
                                             size_t thread = 0) {
  const auto lanes = hand.lanes();
  const SpanAxis axis = hand.axis();
  std::vector<LaneEntry> entries;
  lanes.entries(axis, grid, lanes.row(lanes.threads()[thread], row), entries);
  std::vector<std::string> texts;
  for (const LaneEntry& entry : entries) {
    texts.push_back(std::to_string(entry.start) + "-" + std::to_string(entry.end) +
                    (entry.count > 1 ? "x" + std::to_string(entry.count) : ""));
  }
  return texts;
}

constexpr LaneGrid kWhole{Axis::time, 0, 1, 1000};  // a column for each microsecond, which is a tick here

// Example A of the op table: train holds linear and relu, linear holds empty and addmm.
[[nodiscard]] HandSpans example() {
  HandSpans hand;
  hand.op(0, 100);
  hand.op(10, 30);
  hand.op(12, 2);
  hand.op(15, 20);
  hand.op(50, 10);
  hand.event_at(0);
  hand.finish();
  return hand;
}

TEST(SpanLanes, WhatIsNestedLiesBelowWhatItLiesIn) {
  const HandSpans hand = example();
  ASSERT_EQ(hand.lanes().threads().size(), 1u);
  EXPECT_EQ(hand.lanes().threads()[0].rows, 3);
  EXPECT_THAT(shown(hand, kWhole, 0), ElementsAre("0-100"));
  EXPECT_THAT(shown(hand, kWhole, 1), ElementsAre("10-40", "50-60"));
  EXPECT_THAT(shown(hand, kWhole, 2), ElementsAre("12-14", "15-35"));
}

// b begins in a and ends after it; c begins in b when a is over, and comes below b, not over it. d has the first row to itself.
TEST(SpanLanes, WhatOverlapsWithoutNestingHasARowOfItsOwn) {
  HandSpans hand;
  hand.op(0, 10);
  hand.op(5, 10);
  hand.op(12, 1);
  hand.op(15, 5);
  hand.event_at(0);
  hand.finish();
  EXPECT_THAT(shown(hand, kWhole, 0), ElementsAre("0-10", "15-20"));
  EXPECT_THAT(shown(hand, kWhole, 1), ElementsAre("5-15"));
  EXPECT_THAT(shown(hand, kWhole, 2), ElementsAre("12-13"));
}

// An op without a duration, one with a negative one (its end is missing), and one that begins at once after them.
TEST(SpanLanes, AMomentLastsATick) {
  HandSpans hand;
  hand.op(3, 0);
  hand.op(4, -7);
  hand.op(5, 2);
  hand.event_at(0);
  hand.finish();
  EXPECT_THAT(shown(hand, kWhole, 0), ElementsAre("3-4", "4-5", "5-7"));
}

// Columns of 10: [0, 10) has three short ones, the third of which reaches to 11; [10, 20) one that is narrow, and one that goes
// on to 95.
TEST(SpanLanes, WhatIsNarrowerThanAColumnIsShownTogether) {
  HandSpans hand;
  hand.op(0, 2);
  hand.op(2, 2);
  hand.op(8, 3);
  hand.op(12, 2);
  hand.op(15, 80);
  hand.event_at(0);
  hand.finish();
  const LaneGrid tens{Axis::time, 0, 10, 10};
  EXPECT_THAT(shown(hand, tens, 0), ElementsAre("0-4x2", "8-11", "12-14", "15-95"));
  const LaneGrid fifties{Axis::time, 0, 50, 2};
  EXPECT_THAT(shown(hand, fifties, 0), ElementsAre("0-14x4", "15-95"));
  const LaneGrid all{Axis::time, 0, 100, 1};
  EXPECT_THAT(shown(hand, all, 0), ElementsAre("0-95x5"));
}

TEST(SpanLanes, OnlyWhatReachesIntoTheStretchIsShown) {
  const HandSpans hand = example();
  EXPECT_THAT(shown(hand, {Axis::time, 40, 1, 10}, 0), ElementsAre("0-100"));
  EXPECT_THAT(shown(hand, {Axis::time, 40, 1, 10}, 1), ElementsAre());
  EXPECT_THAT(shown(hand, {Axis::time, 39, 1, 12}, 1), ElementsAre("10-40", "50-60"));
  EXPECT_THAT(shown(hand, {Axis::time, -500, 1, 100}, 0), ElementsAre());
  EXPECT_THAT(shown(hand, {Axis::time, 0, 1, 0}, 0), ElementsAre());
}

// Events at 13, 20, 30, 38: linear [10, 40) holds all, empty [12, 14) the first, addmm [15, 35) the next two.
TEST(SpanLanes, OnTheAxisOfEventsAnOpHasTheEventsThatItHolds) {
  HandSpans hand;
  hand.op(10, 30);
  hand.op(12, 2);
  hand.op(15, 20);
  for (const int64_t time : {13, 20, 30, 38}) hand.event_at(time);
  hand.finish();
  const SpanAxis axis = hand.axis();
  EXPECT_EQ(axis.position(Axis::event, 10), 0);
  EXPECT_EQ(axis.position(Axis::event, 40), 4);
  EXPECT_EQ(axis.position(Axis::event, 14), 1);
  EXPECT_EQ(axis.position(Axis::event, 35), 3);
  EXPECT_EQ(axis.position(Axis::time, 10), -3);  // the axis begins with the first event
  EXPECT_THAT(shown(hand, {Axis::event, 0, 1, 4}, 1), ElementsAre("12-14", "15-35"));
  EXPECT_THAT(shown(hand, {Axis::event, 1, 1, 1}, 1), ElementsAre("15-35"));
  EXPECT_THAT(shown(hand, {Axis::event, 3, 1, 1}, 1), ElementsAre());
}

TEST(SpanLanes, TheThreadWithMostRecordsComesFirst) {
  HandSpans hand;
  hand.op(0, 10, 0);
  hand.op(0, 10, 1);
  hand.op(20, 10, 1);
  hand.op(0, 10, 2);
  hand.event_at(1, 2);
  hand.finish();
  const SpanLanes lanes = hand.lanes();
  const auto threads = lanes.threads();
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0].thread, 2);
  EXPECT_EQ(threads[0].records, 1);
  EXPECT_EQ(threads[1].thread, 1);  // two ops
  EXPECT_EQ(threads[2].thread, 0);
}

TEST(SpanLanes, WhatLiesTooDeepIsCounted) {
  HandSpans hand;
  for (int64_t i = 0; i < kMostLaneRows + 5; ++i) hand.op(i, 1000 - 2 * i);
  hand.event_at(0);
  hand.finish();
  EXPECT_EQ(hand.lanes().threads()[0].rows, kMostLaneRows);
  EXPECT_EQ(hand.lanes().threads()[0].deeper, 5);
}

TEST(SpanLanes, TimesAtTheEndsOfSixtyFourBitsAreDrawnAndDoNoHarm) {
  HandSpans hand;
  hand.op(INT64_MIN + 1, INT64_MAX);
  hand.op(INT64_MAX - 5, INT64_MAX);
  hand.event_at(0);
  hand.finish();
  EXPECT_EQ(shown(hand, {Axis::time, -4e18, 1e14, 60000}, 0).size(), 1u);
  EXPECT_EQ(shown(hand, {Axis::time, -1e19, 1e19, 3}, 0).size(), 2u);
  EXPECT_EQ(shown(hand, {Axis::event, -5, 1, 10}, 0).size(), 2u);
}

}  // namespace
}  // namespace gpustrata::replay
