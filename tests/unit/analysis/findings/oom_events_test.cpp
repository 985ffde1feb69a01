#include "engine/analysis/findings/oom_events.h"

#include <gtest/gtest.h>

#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::analysis {
namespace {

// A segment of 60 at the end, one of 40 that came in the recording: 20 + 40 reserved when the request of `asked` failed.
std::optional<int64_t> capacity(uint64_t free, int64_t asked) {
  replay::HandTrace trace;
  trace.event(trace::Action::segment_alloc, 0x1000, 40);
  trace.event(trace::Action::oom, free, asked);
  trace.segment(0x1000, 40).segment(0x9000, 20);
  const auto lives = trace.lifetimes();
  EXPECT_TRUE(lives.has_value());
  return capacity_at_last_oom(trace.recording, *lives);
}

TEST(OomEvents, WhatTheDeviceHadIsReservedAndFreeTogether) {
  EXPECT_EQ(capacity(7, 50), 67);
  EXPECT_EQ(capacity(0, 50), 60);
}

TEST(OomEvents, WhatTheDeviceHadIsNotKnownWhereMoreWasFreeThanAskedFor) {
  EXPECT_EQ(capacity(50, 50), std::nullopt);  // a limit was reached
  EXPECT_EQ(capacity(model::kUnknownFree, 50), std::nullopt);
}

TEST(OomEvents, WithoutOneNothingIsKnownOfTheDevice) {
  replay::HandTrace trace;
  trace.event(trace::Action::segment_alloc, 0x1000, 40).segment(0x1000, 40);
  const auto lives = trace.lifetimes();
  ASSERT_TRUE(lives.has_value());
  EXPECT_EQ(capacity_at_last_oom(trace.recording, *lives), std::nullopt);
}

}  // namespace
}  // namespace gpustrata::analysis
