// Verdicts by hand: 40 MiB asked for, in the large pool of the default stream; only what is free differs.
#include "engine/analysis/findings/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "engine/answers/findings/out_of_memory.h"
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
  void use_settings(std::string_view json) {
    story.recording.parts[0].settings_json = story.recording.strings.intern(json);
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

// Pages of large expandable segments are 20 MiB. 45 on the device give two, 40, which 41 do not fit into.
TEST_F(OutOfMemoryTest, WholePagesOfAnExpandableSegment) {
  use_settings(R"({"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "expandable_segments": true})");
  segment(kBase, kMiB, 55 * kMiB);
  const auto one = explained(41 * kMiB, 45 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::fragmented);
  EXPECT_EQ(one.needed, 60 * kMiB);
  EXPECT_EQ(bytes_of(one, RemedyKind::smaller_request), kMiB);
  EXPECT_THAT(
      answers::verdict_text(story.recording, one),
      HasSubstr("not in a form that the allocator can take: 45.0 MiB on the device and 5.0 MiB cached"));
  EXPECT_THAT(answers::verdict_text(story.recording, one), HasSubstr("grow by whole pages of 20.0 MiB."));
}

// 5 MiB need a segment of 20, of which the device has 19; 4 of the 5 that are cached are in one piece.
TEST_F(OutOfMemoryTest, ASegmentOfAFixedSize) {
  segment(kBase, kMiB, 55 * kMiB);
  const auto one = explained(5 * kMiB, 19 * kMiB);
  EXPECT_EQ(one.verdict, Verdict::fragmented);
  EXPECT_EQ(bytes_of(one, RemedyKind::smaller_request), kMiB);
  EXPECT_THAT(answers::verdict_text(story.recording, one), HasSubstr("takes a segment of 20.0 MiB"));
}

// Of 32 to 64 MiB blocks of 32, 48 and 64 are made: 50 asked for would be 64. 48 fit into 50 on the device.
TEST_F(OutOfMemoryTest, ASmallerRequestIsRoundedToo) {
  use_settings(R"({"roundup_power2_divisions": {"32": 2}})");
  segment(kBase, kMiB, 55 * kMiB);
  EXPECT_EQ(bytes_of(explained(64 * kMiB, 50 * kMiB), RemedyKind::smaller_request), 16 * kMiB);
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

// 45 MiB of `stream` that are freed before the failure, 10 in use behind them, 5 free: 50 cached and 2 on the device for 40.
class FreedJustBefore : public testing::Test {
 protected:
  enum class Freed : uint8_t { at_once, by_the_flush, not_yet };
  [[nodiscard]] ExplainedOutOfMemory explained(Freed freed, int64_t stream) {
    story.alloc(kBase, 45 * kMiB).stream(stream);
    story.request(kBase, 45 * kMiB).stream(stream);
    if (freed == Freed::at_once) story.complete(kBase, 45 * kMiB).stream(stream);
    story.alloc(kBase + 45 * kMiB, 10 * kMiB).stream(stream);
    if (freed == Freed::by_the_flush) story.complete(kBase, 45 * kMiB).stream(stream);
    story.event(trace::Action::oom, 2 * kMiB, 40 * kMiB);
    story.segment(kBase, 60 * kMiB);
    story.segment_stream(stream);
    story.block(kBase, 45 * kMiB, freed == Freed::not_yet ? 45 * kMiB : 0,
                freed == Freed::not_yet ? BlockState::active_pending_free : BlockState::inactive);
    story.block(kBase + 45 * kMiB, 10 * kMiB, 10 * kMiB, BlockState::active_allocated);
    story.block(kBase + 55 * kMiB, 5 * kMiB, 0, BlockState::inactive);
    const OpenedStory opened(story);
    replay::MemoryAt memory(*opened.history, opened.recording.budget);
    auto found = explain_out_of_memory(opened.context(), memory, opened.history->event_count() - 1);
    EXPECT_TRUE(found.has_value());
    return std::move(*found);
  }
  Story story;
};

TEST_F(FreedJustBefore, ByTheFlushOfTheRequestItself) {
  const auto one = explained(Freed::by_the_flush, 0);  // events: alloc, request, alloc, completed, oom
  EXPECT_EQ(one.verdict, Verdict::too_late);
  ASSERT_TRUE(one.fitting);
  EXPECT_EQ(one.fitting->bytes, 45 * kMiB);
  EXPECT_EQ(one.fitting->freed_event, 3);
  EXPECT_FALSE(one.fitting->is_pending);
  EXPECT_EQ(bytes_of(one, RemedyKind::ask_again), 45 * kMiB);
}

TEST_F(FreedJustBefore, ByTheProgramContradictsTheFailure) {
  // It was free before the request looked for it, so the recording does not say why that was no use.
  EXPECT_EQ(explained(Freed::at_once, 0).verdict, Verdict::unknown);
}

TEST_F(FreedJustBefore, ButNotUsableYet) {
  const auto one = explained(Freed::not_yet, 0);
  EXPECT_EQ(one.verdict, Verdict::too_late);
  ASSERT_TRUE(one.fitting);
  EXPECT_TRUE(one.fitting->is_pending);
  EXPECT_EQ(one.fitting->freed_event, 1);
  EXPECT_EQ(bytes_of(one, RemedyKind::ask_again), std::nullopt);
  EXPECT_EQ(bytes_of(one, RemedyKind::free_pending), 45 * kMiB);
}

TEST_F(FreedJustBefore, OnAnotherStream) {
  const auto one = explained(Freed::at_once, 7);
  EXPECT_EQ(one.verdict, Verdict::elsewhere);
  ASSERT_TRUE(one.fitting);
  EXPECT_EQ(one.fitting->freed_event, 2);
  EXPECT_THAT(answers::verdict_text(story.recording, one),
              HasSubstr("The last of it was freed at event 2, 2 events before the failure."));
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
