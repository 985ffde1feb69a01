// Random ops, nested and straddling: lanes against one op at a time.
#include "engine/replay/span_lanes.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/property/random.h"
#include "tests/unit/replay/hand_spans.h"

namespace gpustrata::replay {
namespace {

HandSpans story(Random& random) {
  HandSpans hand;
  const int64_t ops = random.whole(0, 120), length = random.whole(1, 400);
  for (int64_t i = 0; i < ops; ++i) {
    const auto thread = static_cast<int32_t>(random.whole(0, 2));
    const auto kind = random.whole(0, 5) == 0 ? model::SpanKind::python : model::SpanKind::op;
    hand.op(random.whole(0, length), random.whole(-2, random.whole(0, length)), thread, kind);
  }
  std::multiset<int64_t> times;
  for (int64_t i = random.whole(1, 60); i > 0; --i) times.insert(random.whole(0, length));
  for (const int64_t time : times) hand.event_at(time);
  hand.finish();
  return hand;
}

// Every op has a row; within one none overlap; an op is below all that go on when it begins, and right below one of them.
void check_rows(const HandSpans& hand, const SpanLanes& lanes) {
  const model::SpanTable& spans = hand.recording().spans;
  size_t ops = 0;
  for (size_t span = 0; span < spans.size_rows(); ++span)
    ops += spans.kind[span] == model::SpanKind::op ? 1 : 0;
  size_t placed = 0;
  for (const SpanLanes::Thread& thread : lanes.threads()) {
    std::vector<int32_t> row_of(spans.size_rows(), -1);
    for (int32_t row = 0; row < thread.rows; ++row) {
      const model::RowRange range = lanes.row(thread, row);
      ASSERT_GT(range.count, 0);
      for (int32_t place = range.first; place < range.end(); ++place) {
        row_of[static_cast<size_t>(lanes.order()[place])] = row;
        ASSERT_EQ(spans.thread[lanes.order()[place]], thread.thread);
        if (place > range.first) {
          ASSERT_GE(lanes.start_of(place), lanes.end_of(place - 1));
        }
        ++placed;
      }
    }
    for (int32_t span = 0; span < static_cast<int32_t>(spans.size_rows()); ++span) {
      if (row_of[static_cast<size_t>(span)] < 0) continue;
      int32_t lowest = -1;
      for (int32_t other = 0; other < span; ++other) {
        if (row_of[static_cast<size_t>(other)] >= 0 && lane_end(spans, other) > spans.start[span])
          lowest = std::max(lowest, row_of[static_cast<size_t>(other)]);
      }
      ASSERT_EQ(row_of[static_cast<size_t>(span)], lowest + 1);
    }
  }
  EXPECT_EQ(placed, ops);
}

// What a row shows holds exactly the ops that reach into the stretch; what is together begins in one column and ends in it.
void check_entries(const HandSpans& hand, const SpanLanes& lanes, const LaneGrid& grid) {
  const SpanAxis axis = hand.axis();
  const auto column_of = [&](int64_t time) {
    int32_t column = 0;
    while (column + 1 < grid.count &&
           axis.position(grid.axis, time) >= grid.from + static_cast<double>(column + 1) * grid.step)
      ++column;
    return column;
  };
  const double right = grid.from + grid.step * static_cast<double>(grid.count);
  for (const SpanLanes::Thread& thread : lanes.threads()) {
    for (int32_t row = 0; row < thread.rows; ++row) {
      const model::RowRange range = lanes.row(thread, row);
      std::vector<LaneEntry> found;
      lanes.entries(axis, grid, range, found);
      std::vector<int32_t> shown, wanted;
      std::vector<int> of_column(static_cast<size_t>(grid.count), 0);
      for (const LaneEntry& entry : found) {
        ASSERT_EQ(entry.start, lanes.start_of(entry.first));
        ASSERT_EQ(entry.end, lanes.end_of(entry.first + entry.count - 1));
        for (int32_t i = 0; i < entry.count; ++i) {
          shown.push_back(entry.first + i);
          ASSERT_EQ(column_of(lanes.start_of(entry.first + i)), column_of(entry.start));
        }
        if (entry.count > 1) {
          const double border = grid.from + static_cast<double>(column_of(entry.start) + 1) * grid.step;
          ASSERT_LE(axis.position(grid.axis, entry.end), border);
        }
        ASSERT_LE(++of_column[static_cast<size_t>(column_of(entry.start))], 2);
      }
      for (int32_t place = range.first; place < range.end(); ++place) {
        const bool ends_before = axis.position(grid.axis, lanes.end_of(place)) <= grid.from &&
                                 axis.position(grid.axis, lanes.start_of(place)) < grid.from;
        if (!ends_before && axis.position(grid.axis, lanes.start_of(place)) < right) wanted.push_back(place);
      }
      ASSERT_EQ(shown, wanted);
    }
  }
}

TEST(SpanLanesTwin, RowsAndColumnsAgreeWithOneOpAtATime) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const HandSpans hand = story(random);
    const SpanLanes lanes = hand.lanes();
    check_rows(hand, lanes);
    for (int i = 0; i < 6; ++i) {
      const auto axis = random.whole(0, 1) == 0 ? Axis::event : Axis::time;
      const double step = random.whole(0, 2) == 0 ? 0.25 : static_cast<double>(random.whole(1, 50));
      const LaneGrid grid{axis, static_cast<double>(random.whole(-50, 300)), step,
                          static_cast<int32_t>(random.whole(1, 60))};
      check_entries(hand, lanes, grid);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gpustrata::replay
