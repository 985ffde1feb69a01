// Verdicts by hand: 40 MiB asked for, in the large pool of the default stream; only what is free differs.
#include "engine/analysis/findings/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using testing::HasSubstr;

class OutOfMemoryTest : public testing::Test {
 protected:
  // A segment of 60 MiB with `used` in its middle and free pieces of `first` and what is left around it.
  void segment(uint64_t at, int64_t first, int64_t used) {
    story.segment(at, 60 * kMiB);
    story.block(at, first, 0, BlockState::inactive);
    const uint64_t middle = at + static_cast<uint64_t>(first);
    story.block(middle, used, used, BlockState::active_allocated);
    story.block(middle + static_cast<uint64_t>(used), 60 * kMiB - first - used, 0, BlockState::inactive);
  }
  [[nodiscard]] ExplainedOutOfMemory explained(int64_t requested, int64_t device_free) {
    story.event(trace::Action::oom, static_cast<uint64_t>(device_free), requested);
    const OpenedStory opened(story);
    replay::MemoryAt memory(*opened.history, opened.recording.budget);
    auto found = explain_out_of_memory(opened.context(), memory, 0);
    EXPECT_TRUE(found.has_value());
    return std::move(*found);
  }
  Story story;
};

[[nodiscard]] std::optional<int64_t> bytes_of(const ExplainedOutOfMemory& one, RemedyKind kind) {
  for (const Remedy& remedy : one.remedies) {
    if (remedy.kind == kind) return remedy.bytes;
  }
  return std::nullopt;
}

TEST_F(OutOfMemoryTest, InPieces) {
  // Free: 30 + 10 cached, 10 on the device: 50 >= 40, the largest piece is 30.
  segment(kBase, 30 * kMiB, 20 * kMiB);
  const auto one = explained(40 * kMiB, 10 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::fragmented);
  EXPECT_EQ(one.room, 50 * kMiB);
  EXPECT_EQ(one.cached, 40 * kMiB);
  EXPECT_EQ(one.largest_own, 30 * kMiB);
  EXPECT_EQ(one.reserved, one.allocated + one.cached + one.pending);
  ASSERT_EQ(one.places.size(), 1u);
  EXPECT_EQ(one.places[0].why, WhyNot::too_small);
  EXPECT_EQ(bytes_of(one, RemedyKind::expandable_segments), 40 * kMiB);
  EXPECT_EQ(bytes_of(one, RemedyKind::smaller_request), 10 * kMiB);
  EXPECT_EQ(bytes_of(one, RemedyKind::free_pins), 60 * kMiB);  // 20 in use hold 40 free: the whole segment
}

[[nodiscard]] const Remedy* pins_of(const ExplainedOutOfMemory& one) {
  for (const Remedy& remedy : one.remedies) {
    if (remedy.kind == RemedyKind::free_pins) return &remedy;
  }
  return nullptr;
}

TEST_F(OutOfMemoryTest, MorePinsThanTwenty) {
  // 60 segments, 31 free in each: 1860. 1800 are asked for: 1800 / 60 = 30 segments, all of which are named.
  for (uint64_t i = 0; i < 60; ++i) segment(kBase + i * (64 * kMiB), 16 * kMiB, 29 * kMiB);
  const auto one = explained(1800 * kMiB, 0);
  const Remedy* pins = pins_of(one);
  ASSERT_NE(pins, nullptr);
  EXPECT_EQ(pins->segments, 30);
  EXPECT_EQ(pins->missing, 0);
}

TEST_F(OutOfMemoryTest, PinsThatAreTooLittleAreCalledSo) {
  // 31 free around 29, and twice 25 free around 35, which are mostly in use and so no pins. 62 are asked for.
  segment(kBase, 16 * kMiB, 29 * kMiB);
  segment(kBase + 64 * kMiB, 10 * kMiB, 35 * kMiB);
  segment(kBase + 128 * kMiB, 10 * kMiB, 35 * kMiB);
  const auto one = explained(62 * kMiB, 0);
  EXPECT_EQ(one.verdict, Verdict::fragmented);  // 31 + 25 + 25 = 81 free
  const Remedy* pins = pins_of(one);
  ASSERT_NE(pins, nullptr);
  EXPECT_EQ(pins->segments, 1);
  EXPECT_EQ(pins->missing, 2 * kMiB);  // 62 - 60
}

TEST_F(OutOfMemoryTest, Full) {
  // 1 + 4 free inside, 2 on the device: 7 < 40.
  segment(kBase, kMiB, 55 * kMiB);
  const auto one = explained(40 * kMiB, 2 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::full);
  EXPECT_EQ(bytes_of(one, RemedyKind::use_less), 33 * kMiB);
}

TEST_F(OutOfMemoryTest, WhatIsNoRemedyForMostProgramsComesAfterTheOthers) {
  // 40 where the largest piece is one of 2 on the device (1 + 4 inside): 38 less is nearly all, 33 less in use more to the point.
  segment(kBase, kMiB, 55 * kMiB);
  const auto one = explained(40 * kMiB, 2 * kMiB);
  std::vector<RemedyKind> kinds;
  for (const Remedy& remedy : one.remedies) kinds.push_back(remedy.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(RemedyKind::use_less, RemedyKind::smaller_request,
                                          RemedyKind::other_processes));
}

TEST_F(OutOfMemoryTest, TheLastOneEndsTheRecording) {
  segment(kBase, kMiB, 55 * kMiB);
  EXPECT_TRUE(explained(40 * kMiB, 2 * kMiB).ends_recording);
}

TEST_F(OutOfMemoryTest, MoreThanTheDeviceHolds) {
  segment(kBase, kMiB, 55 * kMiB);
  const auto one = explained(63 * kMiB, 2 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::too_big);  // 60 reserved and 2 free
}

TEST_F(OutOfMemoryTest, ALimit) {
  segment(kBase, kMiB, 55 * kMiB);
  const auto one = explained(40 * kMiB, 400 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::limit);
}

TEST_F(OutOfMemoryTest, OfAnotherStream) {
  segment(kBase, 45 * kMiB, 10 * kMiB);
  story.segment_stream(7);
  const auto one = explained(40 * kMiB, 2 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::elsewhere);
  ASSERT_FALSE(one.places.empty());
  EXPECT_EQ(one.places[0].why, WhyNot::other_stream);
  EXPECT_EQ(one.largest_own, 0);
}

TEST_F(OutOfMemoryTest, NothingIsKnown) { EXPECT_EQ(explained(0, 0).verdict, Verdict::unknown); }

TEST_F(OutOfMemoryTest, HostileNumbersGiveAnAnswer) {
  segment(kBase, 30 * kMiB, 20 * kMiB);
  const auto one = explained(INT64_MAX, -1);  // 2^64 - 1 bytes free are not plausible
  EXPECT_FALSE(one.device_free.has_value());
  for (const Remedy& remedy : one.remedies) EXPECT_GE(remedy.bytes.value_or(0), 0);
}

}  // namespace
}  // namespace gpustrata::analysis
