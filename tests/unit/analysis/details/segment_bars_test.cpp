// Bars of segments: a character a page, a letter for one block, tenths or a star for several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "engine/analysis/details/segment_stats.h"
#include "tests/unit/analysis/opened_story.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;

constexpr uint64_t kBarsBegin = uint64_t{1} << 40;
constexpr int64_t kHalfMiB = int64_t{1} << 19;

// Blocks of the last segment, in half MiB, one behind the other; those below zero are free.
void add_blocks(Story& story, uint64_t address, std::initializer_list<int64_t> halves) {
  for (const int64_t count : halves) {
    const int64_t size = std::abs(count) * kHalfMiB;
    story.block(address, size, count > 0 ? size - 1 : 0,
                count > 0 ? BlockState::active_allocated : BlockState::inactive);
    address += static_cast<uint64_t>(size);
  }
}

[[nodiscard]] MemoryStats stats_of(Story& story) {
  const OpenedStory opened(story);
  const auto memory = opened.at_end();
  auto found = memory_stats(memory, opened.recording.budget);
  EXPECT_TRUE(found.has_value());
  return std::move(*found);
}

TEST(SegmentBars, PagesOfTwoMiBInSmallSegments) {
  Story story;
  story.segment(kBarsBegin, 16 * kHalfMiB);
  // Pages of four halves: two blocks that fill it; half of a third, which goes on; the rest of it and a free half; nothing.
  add_blocks(story, kBarsBegin, {2, 2, 6, -2, -4});
  const MemoryStats found = stats_of(story);
  ASSERT_EQ(found.segments.size(), 1U);
  EXPECT_EQ(found.segments[0].bar, "*cc ");
  EXPECT_EQ(found.segments[0].uses.allocated, 10 * kHalfMiB);
  EXPECT_EQ(found.segments[0].uses.requested, 10 * kHalfMiB - 3);
  EXPECT_EQ(found.segments[0].uses.rounding, 3);
  EXPECT_EQ(found.segments[0].uses.free, 6 * kHalfMiB);
  EXPECT_EQ(found.sum.free, 6 * kHalfMiB);
}

// Three quarters of a page by two blocks are seven whole tenths.
TEST(SegmentBars, TenthsOfAPageThatSeveralBlocksAreIn) {
  Story story;
  story.segment(kBarsBegin, 8 * kHalfMiB);
  add_blocks(story, kBarsBegin, {2, 1, -1, 1, -3});
  EXPECT_EQ(stats_of(story).segments[0].bar, "7c");
  Story later;  // the same in the second page, and one that two blocks fill in the third
  later.segment(kBarsBegin, 12 * kHalfMiB);
  add_blocks(later, kBarsBegin, {-4, 2, 1, -1, 3, 1});
  EXPECT_EQ(stats_of(later).segments[0].bar, " 7*");
}

TEST(SegmentBars, PagesOfTwentyMiBFromTwentyMiBOn) {
  Story story;
  story.segment(kBarsBegin, 80 * kHalfMiB);
  add_blocks(story, kBarsBegin, {60, -20});
  EXPECT_EQ(stats_of(story).segments[0].bar, "aa");
  Story small;
  small.segment(kBarsBegin, 36 * kHalfMiB);
  add_blocks(small, kBarsBegin, {36});
  EXPECT_EQ(stats_of(small).segments[0].bar, "aaaaaaaaa");
}

TEST(SegmentBars, SmallSegmentsFirstThenThoseWithLessInUse) {
  Story story;
  story.segment(kBarsBegin, 8 * kHalfMiB);
  add_blocks(story, kBarsBegin, {8});
  story.segment(kBarsBegin + (uint64_t{1} << 30), 8 * kHalfMiB);
  add_blocks(story, kBarsBegin + (uint64_t{1} << 30), {4, -4});
  story.segment(kBarsBegin + (uint64_t{2} << 30), 4 * kHalfMiB);
  add_blocks(story, kBarsBegin + (uint64_t{2} << 30), {4});
  const MemoryStats found = stats_of(story);
  ASSERT_EQ(found.segments.size(), 3U);
  EXPECT_EQ(found.segments[0].bar, "a");
  EXPECT_EQ(found.segments[1].bar, "a ");
  EXPECT_EQ(found.segments[2].bar, "aa");
  EXPECT_EQ(found.sum.allocated, 16 * kHalfMiB);
}

}  // namespace
}  // namespace gpustrata::analysis
