#include "engine/replay/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsNan;
using trace::Action;

constexpr uint32_t kNo = kNothing;

// A trace with its timeline.
struct Drawn {
  explicit Drawn(HandTrace& trace) {
    EXPECT_TRUE(trace.ok());
    auto found = trace.lifetimes();
    EXPECT_TRUE(found.has_value());
    lifetimes.emplace(std::move(*found));
    auto built = Timeline::build(trace.recording, *lifetimes);
    EXPECT_TRUE(built.has_value());
    timeline.emplace(std::move(*built));
  }
  [[nodiscard]] std::vector<uint32_t> draw(const ColumnGrid& columns, const RowGrid& rows) const {
    std::vector<uint32_t> pixels(static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count), 12345);
    timeline->draw(columns, rows, pixels);
    return pixels;
  }
  std::optional<BlockLives> lifetimes;
  std::optional<Timeline> timeline;
};

// Three blocks of 100 bytes; the middle one goes at event 3 and the top one slides down.
//   event   0    1    2    3
//   level 100  200  300  200
void three_blocks(HandTrace& trace) {
  trace.alloc(0x100, 100).alloc(0x200, 100).alloc(0x300, 100).complete(0x200, 100);
}

TEST(Timeline, EachColumnIsTheStackAfterItsEvent) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  // 4 rows of 100 bytes: centres at 50, 150, 250, 350.
  EXPECT_THAT(
      drawn.draw({.first = 0, .width = 1, .count = 4}, {.bottom = 0, .bytes_per_row = 100, .count = 4}),
      ElementsAre(0, kNo, kNo, kNo,  //
                  0, 1, kNo, kNo,    //
                  0, 1, 2, kNo,      //
                  0, 2, kNo, kNo));
}

TEST(Timeline, AColumnOfSeveralEventsShowsTheHighestOne) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  // Columns: events 0-1 and 2-3. The second one shows event 2 (300), not the last one (200).
  EXPECT_THAT(
      drawn.draw({.first = 0, .width = 2, .count = 2}, {.bottom = 0, .bytes_per_row = 100, .count = 3}),
      ElementsAre(0, 1, kNo, 0, 1, 2));
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::event, 0, 2), 1);
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::event, 1, 2), 2);
  const Curves curves = drawn.timeline->curves({.first = 0, .width = 2, .count = 2});
  EXPECT_THAT(curves.highest, ElementsAre(200, 300));
  EXPECT_THAT(curves.lowest, ElementsAre(100, 200));
}

TEST(Timeline, OfEqualHeightsTheEarliestEventIsShown) {
  HandTrace trace;
  trace.alloc(0x100, 100).event(Action::snapshot, 0, 0).complete(0x100, 100).alloc(0x100, 100);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::event, 0, 4), 0);
}

TEST(Timeline, ColumnsOutsideTheRecordingAreNothing) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  const ColumnGrid columns{.first = -1, .width = 4, .count = 3};
  EXPECT_THAT(drawn.draw(columns, {.bottom = 0, .bytes_per_row = 100, .count = 1}), ElementsAre(kNo, 0, kNo));
  const Curves curves = drawn.timeline->curves(columns);
  EXPECT_THAT(curves.event, ElementsAre(-2, 2, -2));
  EXPECT_THAT(curves.highest, ElementsAre(IsNan(), 300, IsNan()));
  EXPECT_THAT(curves.reserved, ElementsAre(IsNan(), 0, IsNan()));
}

TEST(Timeline, ABandLowerThanARowIsMarked) {
  HandTrace trace;
  trace.alloc(0x100, 10).alloc(0x200, 30).alloc(0x300, 60);
  const Drawn drawn(trace);
  // Rows of 40 bytes: centres at 20 (block 1: 10..40), 60 (block 2: 40..100), 100 (above).
  EXPECT_THAT(
      drawn.draw({.first = 2, .width = 1, .count = 1}, {.bottom = 0, .bytes_per_row = 40, .count = 3}),
      ElementsAre(1 | kMergedBit, 2, kNo));
}

TEST(Timeline, RowsBelowTheStackAreNothing) {
  HandTrace trace;
  trace.alloc(0x100, 100);
  const Drawn drawn(trace);
  EXPECT_THAT(
      drawn.draw({.first = 0, .width = 1, .count = 1}, {.bottom = -100, .bytes_per_row = 100, .count = 3}),
      ElementsAre(kNo, 0, kNo));
}

TEST(Timeline, RowsThatMakeNoSenseShowNothing) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  const double infinite = std::numeric_limits<double>::infinity();
  for (const RowGrid& rows : {RowGrid{0, 0, 2}, RowGrid{0, -1, 2}, RowGrid{NAN, 1, 2}, RowGrid{0, NAN, 2},
                              RowGrid{0, infinite, 2}, RowGrid{-infinite, 1, 2}, RowGrid{1e300, 1e300, 2}}) {
    EXPECT_THAT(drawn.draw({.first = 0, .width = 1, .count = 2}, rows), Each(kNo));
  }
}

TEST(Timeline, ATargetThatIsTooSmallIsLeftAlone) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  std::vector<uint32_t> pixels(3, 7);
  drawn.timeline->draw({.first = 0, .width = 1, .count = 2}, {.bottom = 0, .bytes_per_row = 1, .count = 2},
                       pixels);
  EXPECT_THAT(pixels, Each(7));
}

TEST(Timeline, WithoutEventsThePictureIsFlat) {
  HandTrace trace;
  trace.segment(0x100, 512).block(0x100, 512, 100, model::BlockState::active_allocated);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->extent(Axis::event), 1);
  EXPECT_EQ(drawn.timeline->extent(Axis::time), 0);
  EXPECT_THAT(
      drawn.draw({.first = 0, .width = 1, .count = 2}, {.bottom = 0, .bytes_per_row = 50, .count = 3}),
      ElementsAre(0, 0, kNo, kNo, kNo, kNo));
  EXPECT_THAT(drawn.timeline->curves({.first = 0, .width = 1, .count = 1}).event, ElementsAre(-1));
  EXPECT_EQ(drawn.timeline->highest_level({.first = 0, .width = 1, .count = 1}), 100);
  EXPECT_EQ(drawn.timeline->pick(-1, 99.5), 0);
  EXPECT_EQ(drawn.timeline->pick(-1, 100), -1);
}

TEST(Timeline, AnEmptySnapshotShowsNothing) {
  HandTrace trace;
  const Drawn drawn(trace);
  EXPECT_THAT(drawn.draw({.first = 0, .width = 1, .count = 2}, {.bottom = 0, .bytes_per_row = 1, .count = 1}),
              Each(kNo));
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::event, 0, 1), -1);
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::time, 0, 1), -2);
  EXPECT_EQ(drawn.timeline->pick(-1, 0), -1);
  EXPECT_EQ(drawn.timeline->offset_of(0, -1), 0);
}

TEST(Timeline, APeakBeforeTheFirstEventIsNotLost) {
  // 300 bytes are freed by the only event: the column of that event shows the state before it.
  HandTrace trace;
  trace.complete(0x100, 300);
  const Drawn drawn(trace);
  const ColumnGrid columns{.first = 0, .width = 1, .count = 1};
  EXPECT_THAT(drawn.draw(columns, {.bottom = 0, .bytes_per_row = 100, .count = 3}), ElementsAre(0, 0, 0));
  const Curves curves = drawn.timeline->curves(columns);
  EXPECT_THAT(curves.event, ElementsAre(-1));
  EXPECT_THAT(curves.highest, ElementsAre(300));
  EXPECT_THAT(curves.lowest, ElementsAre(0));
  EXPECT_EQ(drawn.timeline->highest_level(columns), 300);
}

TEST(Timeline, OnTheTimeAxisAColumnWithoutEventShowsTheStateBefore) {
  // Microseconds 1000 (100 bytes), 1001 (200), 1005 (300), 1005 (200): columns of 2 us are
  // [0, 2) events 0-1, [2, 4) none, [4, 6) events 2-3.
  HandTrace trace;
  trace.event(Action::alloc, 0x100, 100, 1000)
      .event(Action::alloc, 0x200, 100, 1001)
      .event(Action::alloc, 0x300, 100, 1005)
      .event(Action::free_completed, 0x200, 100, 1005);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->extent(Axis::time), 6);
  const ColumnGrid columns{.axis = Axis::time, .first = 0, .width = 2, .count = 4};
  const Curves curves = drawn.timeline->curves(columns);
  EXPECT_THAT(curves.event, ElementsAre(1, 1, 2, -2));
  EXPECT_THAT(curves.lowest, ElementsAre(100, 200, 200, IsNan()));
  EXPECT_THAT(drawn.draw(columns, {.bottom = 0, .bytes_per_row = 100, .count = 3}),
              ElementsAre(0, 1, kNo, 0, 1, kNo, 0, 1, 2, kNo, kNo, kNo));
  EXPECT_EQ(drawn.timeline->highest_level({.axis = Axis::time, .first = 1, .width = 2, .count = 1}), 200);
}

TEST(Timeline, TimesThatRunBackwardsOrAreMissingStandStill) {
  HandTrace trace;
  trace.event(Action::alloc, 0x100, 1)
      .event(Action::alloc, 0x200, 1, 500)
      .event(Action::alloc, 0x300, 1, 510)
      .event(Action::alloc, 0x400, 1, 505)
      .event(Action::alloc, 0x500, 1)
      .event(Action::alloc, 0x600, 1, 511);
  const Drawn drawn(trace);
  std::vector<int64_t> positions;
  for (int32_t event = -1; event <= 6; ++event)
    positions.push_back(drawn.timeline->position(Axis::time, event));
  EXPECT_THAT(positions, ElementsAre(0, 0, 0, 10, 10, 10, 11, 12));  // the last one is the extent
  EXPECT_EQ(drawn.timeline->extent(Axis::time), 12);
  EXPECT_EQ(drawn.timeline->position(Axis::event, 3), 3);
  EXPECT_EQ(drawn.timeline->position(Axis::event, 99), 6);
}

TEST(Timeline, EventsBeforeTheFirstKnownTimeAreAtTheBeginning) {
  HandTrace trace;
  trace.event(Action::alloc, 0x100, 1)
      .event(Action::alloc, 0x200, 1, 500)
      .event(Action::alloc, 0x300, 1, 510);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->position(Axis::time, 0), 0);
  EXPECT_EQ(drawn.timeline->position(Axis::time, 2), 10);
  EXPECT_EQ(drawn.timeline->extent(Axis::time), 11);
}

TEST(Timeline, RunsOfBlocksThatAreAllGoneDoNotTakeOthersAlong) {
  // Four runs of 4096 blocks of one byte (nodes of the tree). All but the last block of each run go first,
  // then those four at events e, e + 1, e + 2 and e + 4.
  constexpr uint64_t kRun = 4096;
  HandTrace trace;
  for (uint64_t i = 0; i < 4 * kRun; ++i) trace.alloc(i, 1);
  for (uint64_t i = 0; i < 4 * kRun; ++i) {
    if (i % kRun != kRun - 1) trace.complete(i, 1);
  }
  const auto e = static_cast<int64_t>(trace.recording.events.size_rows());
  trace.complete(kRun - 1, 1)
      .complete(2 * kRun - 1, 1)
      .complete(3 * kRun - 1, 1)
      .event(Action::snapshot, 0, 0)
      .complete(4 * kRun - 1, 1);
  const Drawn drawn(trace);
  const std::vector<uint32_t> pixels =
      drawn.draw({.first = e - 1, .width = 1, .count = 6}, {.bottom = 0, .bytes_per_row = 1, .count = 4});
  EXPECT_THAT(pixels, ElementsAre(4095, 8191, 12287, 16383,  //
                                  8191, 12287, 16383, kNo,   //
                                  12287, 16383, kNo, kNo,    //
                                  16383, kNo, kNo, kNo,      //
                                  16383, kNo, kNo, kNo,      //
                                  kNo, kNo, kNo, kNo));
}

TEST(Timeline, TheAllocatedCurveLeavesPendingBytesOut) {
  HandTrace trace;
  trace.alloc(0x100, 100).request(0x100, 100).alloc(0x200, 10).complete(0x100, 100);
  const Drawn drawn(trace);
  const Curves curves = drawn.timeline->curves({.first = 0, .width = 1, .count = 4});
  EXPECT_THAT(curves.highest, ElementsAre(100, 100, 110, 10));
  EXPECT_THAT(curves.allocated, ElementsAre(100, 0, 10, 10));
}

TEST(Timeline, TheReservedCurveIsTheHighestOfItsColumn) {
  // Reserved after the events: 50 (as before), 80, 30, 30.
  HandTrace trace;
  trace.alloc(0x100, 1)
      .event(Action::segment_map, 0x1000, 30)
      .event(Action::segment_unmap, 0x1000, 50)
      .alloc(0x200, 1);
  trace.segment(0x1000, 30);
  const Drawn drawn(trace);
  EXPECT_THAT(drawn.timeline->curves({.first = 0, .width = 1, .count = 4}).reserved,
              ElementsAre(50, 80, 30, 30));
  EXPECT_THAT(drawn.timeline->curves({.first = 0, .width = 2, .count = 2}).reserved, ElementsAre(80, 30));
}

TEST(Timeline, PickingNamesTheBlockAtAHeight) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  const Timeline& timeline = *drawn.timeline;
  EXPECT_EQ(timeline.pick(3, 99.9), 0);
  EXPECT_EQ(timeline.pick(3, 100), 2);
  EXPECT_EQ(timeline.pick(3, 200), -1);
  EXPECT_EQ(timeline.pick(3, -0.5), -1);
  EXPECT_EQ(timeline.pick(3, NAN), -1);
  EXPECT_EQ(timeline.pick(4, 0), -1);
  EXPECT_EQ(timeline.pick(-2, 0), -1);
}

TEST(Timeline, OffsetsCountLiveBlocksBelow) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->offset_of(2, 2), 200);
  EXPECT_EQ(drawn.timeline->offset_of(2, 3), 100);
  EXPECT_EQ(drawn.timeline->offset_of(0, 3), 0);
  EXPECT_EQ(drawn.timeline->offset_of(99, 3), 200);
}

TEST(Timeline, TheOutlineFollowsABlockForItsLife) {
  HandTrace trace;
  three_blocks(trace);
  const Drawn drawn(trace);
  EXPECT_THAT(drawn.timeline->outline(2, {.first = 1, .width = 1, .count = 4}),
              ElementsAre(IsNan(), 200, 100, IsNan()));
  EXPECT_THAT(drawn.timeline->outline(7, {.first = 0, .width = 1, .count = 1}), ElementsAre(IsNan()));
}

TEST(Timeline, AbsurdGridsDoNotOverflow) {
  HandTrace trace;
  trace.event(Action::alloc, 0x100, 100, INT64_MAX - 1).event(Action::alloc, 0x200, 100, INT64_MAX);
  const Drawn drawn(trace);
  for (const Axis axis : {Axis::event, Axis::time}) {
    for (const int64_t first : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
      for (const int64_t width : {INT64_MIN, int64_t{0}, int64_t{1}, INT64_MAX}) {
        const ColumnGrid columns{.axis = axis, .first = first, .width = width, .count = 3};
        const std::vector<int32_t> events = drawn.timeline->curves(columns).event;
        int64_t highest = 0;
        for (const int32_t event : events) {
          if (event >= -1) highest = std::max(highest, drawn.lifetimes->level_after(event));
        }
        EXPECT_EQ(drawn.timeline->highest_level(columns), highest);
      }
    }
  }
  EXPECT_EQ(drawn.timeline->extent(Axis::time), 2);
}

TEST(Timeline, AbsurdTimesEndAtTheLargestExtent) {
  HandTrace trace;
  trace.event(Action::alloc, 0x100, 100, INT64_MIN + 1).event(Action::alloc, 0x200, 100, INT64_MAX);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->extent(Axis::time), int64_t{1} << 53);
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::time, 0, 1), 0);
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::time, 1, int64_t{1} << 52), 1);
}

TEST(Timeline, TooLittleMemoryIsRefused) {
  HandTrace trace;
  for (uint64_t i = 0; i < 100'000; ++i) trace.alloc(i * 512, 1);
  auto lifetimes = trace.lifetimes();
  ASSERT_TRUE(lifetimes.has_value());
  const int64_t used = trace.budget.used();
  ASSERT_TRUE(trace.budget.take(trace.budget.limit() - used - 50'000));
  const auto timeline = Timeline::build(trace.recording, *lifetimes);
  ASSERT_FALSE(timeline.has_value());
  EXPECT_EQ(timeline.error().code, ErrorCode::limit_exceeded);
}

// Events after 0, 5 and 10.5 microseconds; the axis counts whole ones, whatever the file does.
TEST(Timeline, TimesOfAFinerClockArePutOnTheAxisInMicroseconds) {
  HandTrace trace;
  trace.recording.parts[0].clock = {.tick_ns = 1, .base_ns = 1'000'000'000'000};
  trace.event(Action::alloc, 0x100, 10, 7000).event(Action::alloc, 0x200, 10, 12'000);
  trace.event(Action::alloc, 0x300, 10, 17'500);
  const Drawn drawn(trace);
  EXPECT_EQ(drawn.timeline->extent(Axis::time), 11);
  EXPECT_EQ(drawn.timeline->position(Axis::time, 1), 5);
  EXPECT_EQ(drawn.timeline->position(Axis::time, 2), 10);
  EXPECT_EQ(drawn.timeline->event_of_column(Axis::time, 10, 1), 2);
}

}  // namespace
}  // namespace gpustrata::replay
