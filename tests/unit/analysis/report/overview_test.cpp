#include "engine/analysis/report/overview.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "engine/answers/report/missing.h"
#include "engine/answers/stacks/who.h"
#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using trace::Action;

class OverviewOf {
 public:
  explicit OverviewOf(Story& story) : opened_(story) {
    auto found = find_overview(opened_.recording, opened_.part(), *opened_.lifetimes);
    EXPECT_TRUE(found.has_value());
    overview = std::make_unique<Overview>(std::move(*found));
  }
  std::unique_ptr<Overview> overview;
  [[nodiscard]] bool lacks(NotRecorded what) const {
    return std::any_of(overview->missing.begin(), overview->missing.end(),
                       [&](const Missing& one) { return one.what == what; });
  }
  [[nodiscard]] std::string who(const Who& who) const { return answers::who_text(opened_.recording, who); }

 private:
  analysis::OpenedStory opened_;
};

StackId line(Story& story, int number) {
  const std::vector<FrameId> frames{story.frame("f", "/home/a/train.py", number)};
  return story.recording.stacks.intern(frames);
}

TEST(Overview, PartsAndTheRestArePreciselyThePeak) {
  // Seven lines of 10, 20, ... 70 MiB: the five largest are 250 of 280 MiB, the rest 30 in two lines.
  Story story;
  story.segment(kBase, 1024 * kMiB);
  for (int i = 1; i <= 7; ++i) {
    story.alloc(kBase + (static_cast<uint64_t>(i) << 30), i * 10 * kMiB);
    story.recording.events.stack.back() = line(story, i);
  }
  story.request(kBase + (uint64_t{7} << 30), 70 * kMiB).complete(kBase + (uint64_t{7} << 30), 70 * kMiB);
  const OverviewOf of(story);
  const Overview& overview = *of.overview;
  EXPECT_EQ(overview.peak_bytes, 280 * kMiB);
  EXPECT_EQ(overview.peak_event, 6);
  ASSERT_EQ(overview.peak_lines.groups.size(), 5u);
  int64_t sum = overview.peak_lines.other_bytes;
  for (const auto& group : overview.peak_lines.groups) sum += group.bytes;
  EXPECT_EQ(sum, overview.peak_bytes);
  EXPECT_EQ(overview.peak_lines.other_bytes, 30 * kMiB);
  EXPECT_EQ(overview.peak_lines.groups[0].largest, 6);
  // 1,024 MiB reserved all the time: 744 unused at the peak, 814 at the end.
  EXPECT_EQ(overview.at_peak.unused(), 744 * kMiB);
  EXPECT_EQ(overview.at_end.unused(), 814 * kMiB);
  EXPECT_EQ(of.who(overview.peak_lines.groups[0].who), "f train.py:7");
  EXPECT_EQ(overview.peak_lines.groups[0].bytes, 70 * kMiB);
  EXPECT_EQ(overview.peak_lines.other_blocks, 2);
  EXPECT_EQ(overview.peak_lines.all_groups, 7);
}

// 20 MiB are there, 40 come at event 1 for a block of 30 MiB. Of the 60 there are requested: after event 1 only 10, after event 2
// 40, after the block is freed 10, after another one 40 again.
TEST(Overview, ReservedIsSplitWhereMostOfItIsRequested) {
  Story story;
  constexpr uint64_t kOther = kBase + (uint64_t{1} << 30);
  story.segment(kBase, 20 * kMiB).segment(kOther, 40 * kMiB);
  story.alloc(kBase, 10 * kMiB);
  story.event(Action::segment_alloc, kOther, 40 * kMiB);
  story.alloc(kOther, 30 * kMiB);
  story.request(kOther, 30 * kMiB).complete(kOther, 30 * kMiB);
  story.alloc(kOther, 30 * kMiB);
  const OverviewOf of(story);
  EXPECT_EQ(of.overview->highest_reserved.reserved, 60 * kMiB);
  EXPECT_EQ(of.overview->highest_reserved.event, 2);
  EXPECT_EQ(of.overview->highest_reserved.requested, 40 * kMiB);
}

TEST(Overview, StacksOfBlocksAreStacks) {
  // No event has a stack; with a block of the final state that has one, who asked for memory is known.
  for (const bool has : {false, true}) {
    Story story;
    story.segment(kBase, 2 * kMiB);
    story.block(kBase, kMiB, kMiB, model::BlockState::active_allocated);
    if (has) story.recording.blocks.stack.back() = line(story, 7);
    story.alloc(kBase, kMiB);
    const OverviewOf of(story);
    EXPECT_EQ(!of.lacks(NotRecorded::stacks), has);
  }
}

TEST(Overview, RunningOutOfMemoryComesFirst) {
  Story story;
  story.segment(kBase, 40 * kMiB);
  story.alloc(kBase, 30 * kMiB);
  story.event(Action::oom, static_cast<uint64_t>(7 * kMiB), 64 * kMiB);
  story.recording.events.stack.back() = line(story, 22);
  const OverviewOf of(story);
  ASSERT_TRUE(of.overview->out_of_memory.has_value());
  EXPECT_EQ(of.overview->out_of_memory_events, 1);
  EXPECT_EQ(of.overview->out_of_memory->device_free, 7 * kMiB);
  EXPECT_EQ(of.overview->out_of_memory->event, 1);
  EXPECT_EQ(of.overview->out_of_memory->requested, 64 * kMiB);
}

TEST(Overview, OlderMemoryAndWhatIsMissingAreTold) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, 2 * kMiB, model::BlockState::active_allocated);
  story.alloc(kBase + static_cast<uint64_t>(4 * kMiB), 6 * kMiB);
  story.request(kBase + static_cast<uint64_t>(20 * kMiB), 3 * kMiB);
  story.complete(kBase + static_cast<uint64_t>(20 * kMiB), 3 * kMiB);
  const OverviewOf of(story);
  // From before: 2 MiB that stay and 3 MiB that are freed in the end; the peak is 11 MiB after event 0.
  ASSERT_TRUE(of.overview->from_before.has_value());
  EXPECT_EQ(of.overview->from_before->bytes_at_start, 5 * kMiB);
  EXPECT_EQ(of.overview->from_before->bytes_at_peak, 5 * kMiB);
  EXPECT_EQ(of.overview->from_before->bytes_at_end, 2 * kMiB);
  EXPECT_EQ(of.overview->from_before->blocks, 2);
  EXPECT_TRUE(of.lacks(NotRecorded::stacks));
  EXPECT_TRUE(of.lacks(NotRecorded::times));
  EXPECT_FALSE(of.lacks(NotRecorded::oldest_events));
}

TEST(Overview, TheMarkOfASnapshotIsNoHistory) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, kMiB, model::BlockState::active_allocated);
  story.event(trace::Action::snapshot, 0, kMiB);
  const OverviewOf of(story);
  EXPECT_EQ(of.overview->events, 0);
  EXPECT_TRUE(of.lacks(NotRecorded::history));
  EXPECT_FALSE(of.overview->from_before.has_value());
}

// 1,000 events and nothing that is older: perhaps a ring of so many. What the recorder says is sure.
TEST(Overview, OfARoundNumberOfEventsTheOldestMayBeLost) {
  const auto oldest = [](const OverviewOf& of) {
    const auto& all = of.overview->missing;
    return *std::find_if(all.begin(), all.end(),
                         [](const Missing& one) { return one.what == NotRecorded::oldest_events; });
  };
  Story story;
  story.segment(kBase, 40 * kMiB);
  for (int i = 0; i < 500; ++i) story.alloc(kBase, kMiB).complete(kBase, kMiB);
  {
    const OverviewOf of(story);
    ASSERT_EQ(of.overview->events, 1000);
    ASSERT_TRUE(of.lacks(NotRecorded::oldest_events));
    EXPECT_FALSE(oldest(of).is_sure);
  }
  story.lost_oldest = false;
  EXPECT_FALSE(OverviewOf(story).lacks(NotRecorded::oldest_events));
  story.lost_oldest = true;
  EXPECT_TRUE(oldest(OverviewOf(story)).is_sure);
}

// A block without an alloc of which the stack is known: its event was recorded, and is not there any more.
TEST(Overview, WhatWasRecordedBeforeTheFirstEventIsLost) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, kMiB, model::BlockState::active_allocated);
  story.alloc(kBase + static_cast<uint64_t>(4 * kMiB), kMiB)
      .complete(kBase + static_cast<uint64_t>(4 * kMiB), kMiB);
  EXPECT_FALSE(OverviewOf(story).lacks(NotRecorded::oldest_events));
  story.block_frames({"weights", "main"});
  EXPECT_TRUE(OverviewOf(story).lacks(NotRecorded::oldest_events));
  story.lost_oldest = false;  // the recorder says that it kept all
  EXPECT_FALSE(OverviewOf(story).lacks(NotRecorded::oldest_events));
}

TEST(Overview, OneEventIsTheLastOfARing) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, kMiB, model::BlockState::active_allocated);
  story.complete(kBase + static_cast<uint64_t>(20 * kMiB), 3 * kMiB);
  const OverviewOf of(story);
  EXPECT_EQ(of.overview->events, 1);
  EXPECT_TRUE(of.lacks(NotRecorded::oldest_events));
}

// 1 MiB from before, 2 MiB without a stack, 3 MiB with one.
TEST(Overview, WhatHasNoStackIsToldApartByItsAge) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, kMiB, kMiB, model::BlockState::active_allocated);
  story.alloc(kBase + static_cast<uint64_t>(10 * kMiB), 2 * kMiB);
  story.alloc(kBase + static_cast<uint64_t>(20 * kMiB), 3 * kMiB);
  story.recording.events.stack.back() = line(story, 1);
  const OverviewOf of(story);
  ASSERT_EQ(of.overview->missing.size(), 2u);  // and times
  const Missing& stacks = of.overview->missing[1];
  EXPECT_EQ(stacks.what, NotRecorded::some_stacks);
  EXPECT_EQ(stacks.bytes, 3 * kMiB);
  EXPECT_EQ(stacks.older_bytes, kMiB);
}

// 1 MiB of 300: not worth a sentence.
TEST(Overview, LittleWithoutAStackIsNotListed) {
  Story story;
  story.segment(kBase, 1024 * kMiB).block(kBase, kMiB, kMiB, model::BlockState::active_allocated);
  story.alloc(kBase + static_cast<uint64_t>(10 * kMiB), 299 * kMiB);
  story.recording.events.stack.back() = line(story, 1);
  EXPECT_FALSE(OverviewOf(story).lacks(NotRecorded::some_stacks));
}

TEST(Overview, AFileWithoutHistorySaysSo) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, kMiB, model::BlockState::active_allocated);
  const OverviewOf of(story);
  ASSERT_EQ(of.overview->missing.size(), 1u);
  EXPECT_EQ(of.overview->missing[0].what, NotRecorded::history);
  EXPECT_EQ(of.overview->peak_bytes, kMiB);
  const answers::MissingText words = answers::missing_text(*of.overview, of.overview->missing[0], false);
  EXPECT_EQ(words.text, "No history was recorded: only the memory when it was saved is known.");
  EXPECT_EQ(words.python, "torch.cuda.memory._record_memory_history()");
}

}  // namespace
}  // namespace gpustrata::analysis
