// Which device is shown first: peaks worked out by hand.
#include "engine/replay/default_device.h"

#include <gtest/gtest.h>

#include "engine/model/recording.h"
#include "engine/replay/state_history.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using trace::Action;

// Several devices of one snapshot, one after the other.
class Devices {
 public:
  // What `hand` got since the last call is the trace of the device.
  void end_of(int32_t device) {
    const auto end = static_cast<int32_t>(hand.recording.events.size_rows());
    snapshot().traces.push_back({device, {first_, end - first_}});
    first_ = end;
    snapshot().segments = {0, static_cast<int32_t>(hand.recording.segments.size_rows())};
  }
  [[nodiscard]] model::Part& snapshot() { return hand.recording.parts.back(); }
  [[nodiscard]] int32_t first_shown() const {
    const auto found = default_device(hand.recording);
    return found ? found->device : -100;
  }

  HandTrace hand;

 private:
  int32_t first_ = 0;
};

TEST(DefaultDevice, TheHighestPeakAndNotTheLongestTrace) {
  Devices devices;
  devices.hand.alloc(1, 100).complete(1, 100).alloc(1, 100).complete(1, 100).alloc(1, 100);
  devices.end_of(0);
  devices.hand.alloc(1, 60).alloc(2, 60);
  devices.end_of(1);
  EXPECT_EQ(devices.first_shown(), 1);
}

TEST(DefaultDevice, AnOutOfMemoryErrorTellsMoreThanAnyPeak) {
  Devices devices;
  devices.hand.alloc(1, 1000);
  devices.end_of(0);
  devices.hand.alloc(1, 10).event(Action::oom, 5, 2000);
  devices.end_of(1);
  EXPECT_EQ(devices.first_shown(), 1);
}

TEST(DefaultDevice, TheLastOutOfMemoryErrorEndedTheProgram) {
  Devices devices;
  devices.hand.event(Action::oom, 5, 10, 300);
  devices.end_of(0);
  devices.hand.event(Action::oom, 5, 10, 100).event(Action::oom, 5, 10, 400);
  devices.end_of(1);
  devices.hand.event(Action::oom, 5, 10).alloc(1, 5000);  // without a time
  devices.end_of(2);
  EXPECT_EQ(devices.first_shown(), 1);
}

TEST(DefaultDevice, OfEqualOnesTheFirst) {
  Devices devices;
  devices.hand.alloc(1, 100);
  devices.end_of(2);
  devices.hand.alloc(1, 40).alloc(2, 60);
  devices.end_of(5);
  EXPECT_EQ(devices.first_shown(), 2);
}

// Device 0: 300 bytes that nobody allocated are freed, then 100 allocated: peak 300. Device 1: its trace frees
// 150 of the 400 bytes there were, as 250 are left: peak 400.
TEST(DefaultDevice, WhatWasThereBeforeTheTraceCounts) {
  Devices devices;
  devices.hand.segment(0x1000, 512, 1).block(0x1000, 256, 250, model::BlockState::active_allocated);
  devices.hand.complete(1, 300).alloc(1, 100);
  devices.end_of(0);
  devices.hand.complete(1, 150);
  devices.end_of(1);
  EXPECT_EQ(devices.first_shown(), 1);
}

// Device 0: at most 100 at a time if requests free. Device 1: 150.
TEST(DefaultDevice, RequestsFreeWhereNothingIsCompleted) {
  Devices devices;
  devices.hand.alloc(1, 100).request(1, 100).alloc(2, 100).request(2, 100);
  devices.end_of(0);
  devices.hand.alloc(1, 150).request(1, 150);
  devices.end_of(1);
  EXPECT_EQ(devices.first_shown(), 1);
}

TEST(DefaultDevice, PinnedHostMemoryOnlyIfThereIsNothingElse) {
  Devices devices;
  devices.hand.alloc(1, 100);
  devices.snapshot().has_host = true;
  devices.snapshot().host_events = {0, 1};
  EXPECT_EQ(devices.first_shown(), kHostDevice);
  EXPECT_EQ(default_device(devices.hand.recording, devices.snapshot()), kHostDevice);
  devices.snapshot().traces.push_back({4, {0, 1}});
  EXPECT_EQ(devices.first_shown(), 4);
}

TEST(DefaultDevice, AFileWithoutADeviceHasNone) {
  Devices devices;
  EXPECT_EQ(default_device(devices.hand.recording), std::nullopt);
  EXPECT_EQ(default_device(devices.hand.recording, devices.snapshot()), std::nullopt);
}

TEST(DefaultDevice, SizesBeyondEveryMemoryAreCountedAllTheSame) {
  Devices devices;
  devices.hand.alloc(1, INT64_MAX).alloc(2, INT64_MAX);
  devices.end_of(0);
  devices.hand.alloc(1, INT64_MAX).alloc(2, INT64_MAX).alloc(3, 1);
  devices.end_of(1);
  EXPECT_EQ(devices.first_shown(), 1);
}

TEST(DefaultDevice, TheMostTellingOfAllSnapshots) {
  Devices devices;
  devices.hand.alloc(1, 100);
  devices.end_of(0);
  devices.hand.recording.parts.emplace_back();
  devices.hand.alloc(1, 300);
  devices.end_of(0);
  const auto found = default_device(devices.hand.recording);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->part, 1);
  EXPECT_EQ(default_device(devices.hand.recording, devices.hand.recording.parts[0]), 0);
}

}  // namespace
}  // namespace gpustrata::replay
