#include "engine/analysis/findings/cache_flushes.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using trace::Action;

class CacheFlushesTest : public testing::Test {
 protected:
  [[nodiscard]] CacheFlushes found(bool collects_garbage = false) {
    const auto count = static_cast<int32_t>(story.recording.events.size_rows());
    return find_cache_flushes(story.recording, {0, {0, count}, {0, 0}}, collects_garbage);
  }
  void event(Action action, int64_t size, std::initializer_list<std::string_view> frames) {
    story.event(action, kBase, size);
    if (frames.size() > 0) story.frames(frames);
  }
  Story story;
};

TEST_F(CacheFlushesTest, ARequestOfTheSameStackAskedForIt) {
  event(Action::segment_alloc, 20 * kMiB, {"forward", "main"});  // 0
  event(Action::segment_free, 20 * kMiB, {"loss", "main"});      // 1: given back, 20 + 2
  event(Action::segment_unmap, 2 * kMiB, {"loss", "main"});      // 2
  event(Action::segment_alloc, 40 * kMiB, {"loss", "main"});     // 3: to get this
  event(Action::segment_free, 40 * kMiB, {"end", "main"});       // 4: 40 of their own accord
  story.alloc(kBase, 512);                                       // 5
  event(Action::segment_free, 30 * kMiB, {"backward", "main"});  // 6: 30, and it did not help
  event(Action::oom, 4 * kMiB, {"backward", "main"});            // 7
  event(Action::segment_free, 60 * kMiB, {"loss", "main"});      // 8
  event(Action::segment_alloc, 40 * kMiB, {"loss", "main"});     // 9
  const CacheFlushes all = found();
  EXPECT_EQ(all.retries.count, 2);
  EXPECT_EQ(all.retries.bytes, 82 * kMiB);
  EXPECT_EQ(all.retries.first, 1);
  EXPECT_EQ(all.retries.largest, 8);
  EXPECT_EQ(all.failed.count, 1);
  EXPECT_EQ(all.failed.bytes, 30 * kMiB);
  EXPECT_EQ(all.failed.first, 6);
  EXPECT_EQ(all.flushes.count, 1);
  EXPECT_EQ(all.flushes.bytes, 40 * kMiB);
  EXPECT_EQ(all.flushes.first, 4);
  EXPECT_EQ(all.unclear.count, 0);
}

// Of what an expandable segment needs, a part was mapped before the device had no more.
TEST_F(CacheFlushesTest, APartThatWasMappedDoesNotServeARequest) {
  event(Action::segment_unmap, 60 * kMiB, {"loss", "main"});
  event(Action::segment_map, 40 * kMiB, {"loss", "main"});
  event(Action::segment_map, 2 * kMiB, {"loss", "main"});
  event(Action::oom, 200 * kMiB, {"loss", "main"});
  event(Action::segment_unmap, 20 * kMiB, {"loss", "main"});
  event(Action::segment_map, 40 * kMiB, {"loss", "main"});
  story.alloc(kBase, 40 * kMiB);
  event(Action::oom, 200 * kMiB, {"loss", "main"});
  EXPECT_EQ(found().failed.count, 1);
  EXPECT_EQ(found().failed.bytes, 60 * kMiB);
  EXPECT_EQ(found().retries.count, 1);
  EXPECT_EQ(found().retries.bytes, 20 * kMiB);
}

// Two allocations of the device's own, without a cache between; the oldest event, the segment of a third, is lost.
TEST_F(CacheFlushesTest, WhatIsFreedGoesBackAtOnce) {
  event(Action::alloc, 20 * kMiB, {"main"});
  for (const int64_t size : {10 * kMiB, 30 * kMiB}) {
    event(Action::segment_alloc, size, {"main"});
    event(Action::alloc, size, {"main"});
    event(Action::free_requested, size, {"main"});
    event(Action::free_completed, size, {"main"});
    event(Action::segment_free, size, {"main"});
  }
  const CacheFlushes none = found();
  EXPECT_EQ(none.retries.count + none.failed.count + none.flushes.count + none.unclear.count, 0);
  // A block that is one of two in its segment was cached.
  event(Action::segment_alloc, 20 * kMiB, {"main"});
  event(Action::alloc, 10 * kMiB, {"main"});
  EXPECT_EQ(found().unclear.count + found().flushes.count + found().retries.count, 2);
}

// More is asked for right after it, but not by the same stack: empty_cache() stands in this one.
TEST_F(CacheFlushesTest, TheProgramEmptiedTheCache) {
  event(Action::segment_free, 20 * kMiB, {"torch_cuda_emptyCache", "step", "main"});
  event(Action::segment_alloc, 20 * kMiB, {"step", "main"});
  event(Action::segment_free, 20 * kMiB, {"empty_cache", "step", "main"});
  event(Action::oom, 20 * kMiB, {"step", "main"});
  EXPECT_EQ(found().flushes.count, 2);
}

TEST_F(CacheFlushesTest, WithoutStacksOrWithAnotherOneNothingIsSure) {
  event(Action::segment_free, 20 * kMiB, {});
  event(Action::segment_alloc, 20 * kMiB, {});
  event(Action::segment_free, 20 * kMiB, {"forward", "main"});  // of who allocated the segment
  event(Action::segment_alloc, 20 * kMiB, {"step", "main"});
  EXPECT_EQ(found().unclear.count, 2);
  EXPECT_EQ(found().unclear.bytes, 40 * kMiB);
}

TEST_F(CacheFlushesTest, AThresholdMayHaveBeenReached) {
  event(Action::segment_free, 20 * kMiB, {"step", "main"});
  event(Action::segment_alloc, 20 * kMiB, {"step", "main"});
  EXPECT_EQ(found(true).unclear.count, 1);
  EXPECT_EQ(found(false).retries.count, 1);
}

TEST_F(CacheFlushesTest, TheEndOfARecordingIsNoRequest) {
  event(Action::segment_free, 2 * kMiB, {});
  EXPECT_EQ(found().flushes.count, 1);
}

TEST_F(CacheFlushesTest, HostileSizesStayPositive) {
  event(Action::segment_free, INT64_MAX, {});
  event(Action::segment_free, INT64_MAX, {});
  event(Action::segment_free, -5, {});
  EXPECT_EQ(found().flushes.bytes, INT64_MAX);
}

}  // namespace
}  // namespace gpustrata::analysis
