#include "engine/analysis/findings/never_full.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using trace::Action;

[[nodiscard]] NeverFull found_in(const OpenedStory& opened) {
  auto found = find_never_full(opened.context());
  EXPECT_TRUE(found.has_value());
  return found ? *found : NeverFull();
}

// Of 2 MiB at most 1.5 were in use at once, although 1 + 0.5 + 0.25 MiB were asked for in all.
TEST(NeverFull, TheMostIsWhatWasInUseAtOnce) {
  Story story;
  story.event(Action::segment_alloc, kBase, 2 * kMiB);  // 0
  story.alloc(kBase, kMiB);                             // 1
  story.alloc(kBase + kMiB, 512 * kKiB);                // 2: 1.5 MiB
  story.request(kBase, kMiB).complete(kBase, kMiB);     // 3, 4
  story.alloc(kBase, 256 * kKiB);                       // 5: 0.75 MiB
  story.segment(kBase, 2 * kMiB);
  story.block(kBase, 256 * kKiB, 256 * kKiB, BlockState::active_allocated);
  story.block(kBase + 256 * kKiB, 768 * kKiB, 0, BlockState::inactive);
  story.block(kBase + kMiB, 512 * kKiB, 512 * kKiB, BlockState::active_allocated);
  story.block(kBase + kMiB + 512 * kKiB, 512 * kKiB, 0, BlockState::inactive);
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_EQ(found.all_segments, 1);
  EXPECT_EQ(found.segments, 1);
  EXPECT_EQ(found.never_used, 512 * kKiB);
  ASSERT_EQ(found.worst.size(), 1u);
  EXPECT_EQ(found.worst[0].segment, kBase);
  EXPECT_EQ(found.worst[0].segment_bytes, 2 * kMiB);
  EXPECT_EQ(found.worst[0].most_in_use, 1536 * kKiB);
  EXPECT_EQ(found.worst[0].most_event, 2);
  EXPECT_EQ(found.worst[0].never_used(), 512 * kKiB);
  EXPECT_EQ(found.worst[0].from_event, 0);
  EXPECT_EQ(found.worst[0].until_event, 6);  // stays
}

// A block that waits for its stream still takes its place: 1 + 1 MiB are in use at once, the segment is full. The second
// segment is never used, and given back.
TEST(NeverFull, WaitingBlocksCountAndEmptySegmentsAreTheWorst) {
  Story story;
  story.event(Action::segment_alloc, kBase, 2 * kMiB);             // 0
  story.alloc(kBase, kMiB);                                        // 1
  story.request(kBase, kMiB);                                      // 2
  story.alloc(kBase + kMiB, kMiB);                                 // 3: full
  story.complete(kBase, kMiB);                                     // 4
  story.event(Action::segment_alloc, kBase + 8 * kMiB, 2 * kMiB);  // 5
  story.event(Action::segment_free, kBase + 8 * kMiB, 2 * kMiB);   // 6
  story.segment(kBase, 2 * kMiB);
  story.block(kBase, kMiB, 0, BlockState::inactive);
  story.block(kBase + kMiB, kMiB, kMiB, BlockState::active_allocated);
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_EQ(found.all_segments, 2);
  EXPECT_EQ(found.segments, 1);
  EXPECT_EQ(found.never_used, 2 * kMiB);
  ASSERT_EQ(found.worst.size(), 1u);
  EXPECT_EQ(found.worst[0].segment, kBase + 8 * kMiB);
  EXPECT_EQ(found.worst[0].most_in_use, 0);
  EXPECT_EQ(found.worst[0].most_event, 5);  // since it is there
  EXPECT_EQ(found.worst[0].until_event, 6);
}

// 3 MiB in one block over two pieces of 2 MiB, mapped one after the other: the first is full, of the second 1 MiB was used.
TEST(NeverFull, OfABlockEachPieceHasWhatLiesInIt) {
  Story story;
  story.event(Action::segment_map, kBase, 2 * kMiB);             // 0
  story.event(Action::segment_map, kBase + 2 * kMiB, 2 * kMiB);  // 1
  story.alloc(kBase, 3 * kMiB);                                  // 2
  story.segment(kBase, 4 * kMiB);
  story.recording.segments.expandable.back() = model::Tristate::yes;
  story.block(kBase, 3 * kMiB, 3 * kMiB, BlockState::active_allocated);
  story.block(kBase + 3 * kMiB, kMiB, 0, BlockState::inactive);
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_EQ(found.all_segments, 2);
  EXPECT_EQ(found.segments, 1);
  ASSERT_EQ(found.worst.size(), 1u);
  EXPECT_EQ(found.worst[0].segment, kBase + 2 * kMiB);
  EXPECT_EQ(found.worst[0].most_in_use, kMiB);
  EXPECT_EQ(found.worst[0].most_event, 2);
  EXPECT_EQ(found.never_used, kMiB);
  EXPECT_TRUE(found.worst[0].expandable);
}

// 5 MiB in one block over three pieces of 2 MiB: of the third 1 MiB was used, and nothing after its free at event 5.
TEST(NeverFull, ABlockLiesInAsManyPiecesAsItCovers) {
  Story story;
  for (uint64_t i = 0; i < 3; ++i)
    story.event(Action::segment_map, kBase + i * 2 * kMiB, 2 * kMiB);  // 0, 1, 2
  story.alloc(kBase, 5 * kMiB);                                        // 3
  story.request(kBase, 5 * kMiB).complete(kBase, 5 * kMiB);            // 4, 5
  story.alloc(kBase + 4 * kMiB, 512 * kKiB);                           // 6
  story.segment(kBase, 6 * kMiB);
  story.recording.segments.expandable.back() = model::Tristate::yes;
  story.block(kBase, 4 * kMiB, 0, BlockState::inactive);
  story.block(kBase + 4 * kMiB, 512 * kKiB, 512 * kKiB, BlockState::active_allocated);
  story.block(kBase + 4 * kMiB + 512 * kKiB, 1536 * kKiB, 0, BlockState::inactive);
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_EQ(found.all_segments, 3);
  ASSERT_EQ(found.worst.size(), 1u);
  EXPECT_EQ(found.worst[0].segment, kBase + 4 * kMiB);
  EXPECT_EQ(found.worst[0].most_in_use, kMiB);
  EXPECT_EQ(found.worst[0].most_event, 3);
}

// What is free when it was saved may have been full before.
TEST(NeverFull, WithoutHistoryNothingIsKnown) {
  Story story;
  story.segment(kBase, 20 * kMiB);
  story.block(kBase, 12 * kMiB, 12 * kMiB, BlockState::active_allocated);
  story.block(kBase + 12 * kMiB, 8 * kMiB, 0, BlockState::inactive);
  story.event(trace::Action::snapshot, 0, 0);  // is none
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_FALSE(found.has_history);
  EXPECT_EQ(found.all_segments, 0);
  EXPECT_TRUE(found.worst.empty());
}

TEST(NeverFull, NothingReservedIsNothing) {
  Story story;
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_EQ(found.all_segments, 0);
  EXPECT_TRUE(found.worst.empty());
}

// The list ends, the numbers do not: 30 segments of 2 MiB, each with nothing in it.
TEST(NeverFull, TheWorstAreListedAndAllAreCounted) {
  Story story;
  for (uint64_t i = 0; i < 30; ++i) {
    story.segment(kBase + i * 8 * kMiB, 2 * kMiB);
    story.block(kBase + i * 8 * kMiB, 2 * kMiB, 0, BlockState::inactive);
  }
  story.event(trace::Action::oom, 0, kMiB);
  const OpenedStory opened(story);
  const NeverFull found = found_in(opened);
  EXPECT_EQ(found.segments, 30);
  EXPECT_EQ(found.never_used, 60 * kMiB);
  ASSERT_EQ(found.worst.size(), kMostNeverFull);
  EXPECT_EQ(found.worst[0].segment, kBase);  // of equal ones the lowest address
}

}  // namespace
}  // namespace gpustrata::analysis
