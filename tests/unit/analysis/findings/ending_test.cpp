// Does a recording end at a failed request, or did the program go on?
#include "engine/analysis/findings/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::analysis {
namespace {

using trace::Action;

class EndingTest : public testing::Test {
 public:
  // Events from here on are of this device.
  EndingTest& device(int32_t ordinal) {
    part.traces.push_back({ordinal, {static_cast<int32_t>(hand.recording.events.size_rows()), 0}});
    return *this;
  }
  EndingTest& event(Action action, int64_t time_us = model::kNoTime) {
    hand.event(action, 4096, 512, time_us);
    ++part.traces.back().events.count;
    return *this;
  }
  [[nodiscard]] Ending found() const { return find_ending(hand.recording, part); }

  replay::HandTrace hand;
  model::Part part;
};

TEST_F(EndingTest, WithoutAFailureThereIsNone) {
  EXPECT_FALSE(found().at_failure());
  device(0).event(Action::alloc, 1);
  EXPECT_FALSE(found().at_failure());
}

TEST_F(EndingTest, AProgramThatFailsOnlyFrees) {
  device(0).event(Action::alloc, 1).event(Action::oom, 2);
  event(Action::free_requested, 3).event(Action::free_completed, 3).event(Action::segment_free, 4);
  EXPECT_EQ(found().device, 0);
  EXPECT_EQ(found().event, 1);
}

TEST_F(EndingTest, AProgramThatAllocatesAgainWentOn) {
  device(0).event(Action::oom, 1).event(Action::alloc, 2);
  EXPECT_FALSE(found().at_failure());
  event(Action::oom, 3);
  EXPECT_EQ(found().event, 2);
}

TEST_F(EndingTest, AFailureOfOneDeviceEndsTheOthersToo) {
  device(0).event(Action::alloc, 1).event(Action::alloc, 8);
  device(3).event(Action::alloc, 2).event(Action::oom, 9);
  EXPECT_EQ(found().device, 3);
  EXPECT_EQ(found().event, 1);
}

TEST_F(EndingTest, AnotherDeviceThatAllocatesLaterWentOn) {
  device(0).event(Action::alloc, 10);
  device(3).event(Action::oom, 9);
  EXPECT_FALSE(found().at_failure());
}

TEST_F(EndingTest, OfSeveralTheLastFailureCounts) {
  device(0).event(Action::oom, 7);
  device(1).event(Action::oom, 9);
  device(2).event(Action::oom, 8);
  EXPECT_EQ(found().device, 1);
}

TEST_F(EndingTest, WithoutTimesEachDeviceIsLookedAtByItself) {
  device(0).event(Action::alloc);
  device(1).event(Action::oom);
  EXPECT_EQ(found().device, 1);
  event(Action::alloc);
  EXPECT_FALSE(found().at_failure());
}

}  // namespace
}  // namespace gpustrata::analysis
