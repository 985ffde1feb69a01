#include "engine/analysis/findings/fragmentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/analysis/findings/free_places.h"
#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;

// Two segments of 20 MiB: in the first 1 MiB lives and 19 are free in two pieces, the second is full. A third, of 2 MiB
// (small blocks), is empty.
class Pinned : public testing::Test {
 protected:
  Pinned() {
    story.segment(kBase, 20 * kMiB);
    story.block(kBase, 12 * kMiB, 0, BlockState::inactive);
    story.block(kBase + 12 * kMiB, kMiB, kMiB, BlockState::active_allocated);
    story.block(kBase + 13 * kMiB, 7 * kMiB, 0, BlockState::inactive);
    story.segment(kBase + 100 * kMiB, 20 * kMiB);
    story.block(kBase + 100 * kMiB, 20 * kMiB, 20 * kMiB, BlockState::active_allocated);
    story.segment(kBase + 200 * kMiB, 2 * kMiB);
    story.segment_stream(77);
    story.block(kBase + 200 * kMiB, 2 * kMiB, 0, BlockState::inactive);
  }
  Story story;
};

TEST_F(Pinned, WhatLivesBesideFreeMemoryHoldsItBack) {
  const OpenedStory opened(story);
  const Fragmentation found = find_fragmentation(opened.context(), opened.at_end());
  EXPECT_EQ(found.reserved, 42 * kMiB);
  EXPECT_EQ(found.allocated, 21 * kMiB);
  EXPECT_EQ(found.cached, 21 * kMiB);
  EXPECT_EQ(found.largest_free, 12 * kMiB);
  EXPECT_EQ(found.held_back, 19 * kMiB);
  EXPECT_EQ(found.empty_segments, 2 * kMiB);
  ASSERT_EQ(found.pins.size(), 1u);
  EXPECT_EQ(found.pins[0].segment, kBase);
  EXPECT_EQ(found.pins[0].pinned_bytes, kMiB);
  EXPECT_EQ(found.pins[0].blocks, 1);
  EXPECT_TRUE(found.pins[0].is_mostly_free());
  // Held back and not in the largest piece: min(19, 21 - 12) of 42.
  EXPECT_EQ(found.lost(), 9 * kMiB);
  EXPECT_DOUBLE_EQ(found.share(), 9.0 / 42);
}

TEST_F(Pinned, WhatPrivatePoolsCacheDoesNotGoBackByItself) {
  EXPECT_EQ(find_fragmentation(OpenedStory(story).context(), OpenedStory(story).at_end()).private_bytes, 0);
  story.segment(kBase + 300 * kMiB, 20 * kMiB);
  story.segment_pool(1, 0);
  story.block(kBase + 300 * kMiB, 20 * kMiB, 0, BlockState::inactive);
  const OpenedStory opened(story);
  const Fragmentation found = find_fragmentation(opened.context(), opened.at_end());
  EXPECT_EQ(found.empty_segments, 22 * kMiB);
  EXPECT_EQ(found.private_bytes, 20 * kMiB);
  EXPECT_EQ(found.held_back, 19 * kMiB);
}

TEST_F(Pinned, PlacesAreByPoolStreamAndSizeOfBlocks) {
  const OpenedStory opened(story);
  const auto places = find_free_places(opened.context(), opened.at_end());
  ASSERT_EQ(places.size(), 2u);  // the largest free piece first
  EXPECT_FALSE(places[0].small);
  EXPECT_EQ(places[0].reserved, 40 * kMiB);
  EXPECT_EQ(places[0].segments, 2);
  EXPECT_EQ(places[0].cached, 19 * kMiB);
  EXPECT_EQ(places[0].largest, 12 * kMiB);
  EXPECT_EQ(places[0].blocks, 2);
  EXPECT_EQ(places[0].empty_segments, 0);
  EXPECT_TRUE(places[1].small);
  EXPECT_EQ(places[1].stream, story.recording.stream_of(77));
  EXPECT_EQ(places[1].empty_segments, 2 * kMiB);
}

}  // namespace
}  // namespace gpustrata::analysis
