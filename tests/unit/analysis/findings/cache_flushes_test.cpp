#include "engine/analysis/findings/cache_flushes.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using trace::Action;

[[nodiscard]] CacheFlushes found_in(Story& story) {
  const auto count = static_cast<int32_t>(story.recording.events.size_rows());
  return find_cache_flushes(story.recording, {0, {0, count}, {0, 0}});
}

TEST(CacheFlushes, ARunBeforeMoreIsAskedForIsARetryAndOthersAreFlushes) {
  Story story;
  story.event(Action::segment_alloc, kBase, 20 * kMiB);               // 0
  story.event(Action::segment_free, kBase, 20 * kMiB);                // 1: given back, 20 + 2
  story.event(Action::segment_unmap, kBase + 99 * kMiB, 2 * kMiB);    // 2
  story.event(Action::segment_alloc, kBase, 40 * kMiB);               // 3: to get this
  story.event(Action::segment_free, kBase, 40 * kMiB);                // 4: 40 of their own accord
  story.alloc(kBase, 512);                                            // 5
  story.event(Action::segment_free, kBase + 1000 * kMiB, 30 * kMiB);  // 6: 30, and it did not help
  story.event(Action::oom, 0, 4 * kMiB);                              // 7
  const CacheFlushes found = found_in(story);
  EXPECT_EQ(found.retries, 2);
  EXPECT_EQ(found.retry_bytes, 52 * kMiB);
  EXPECT_EQ(found.first_retry, 1);
  EXPECT_EQ(found.largest_retry, 6);
  EXPECT_EQ(found.flushes, 1);
  EXPECT_EQ(found.flush_bytes, 40 * kMiB);
  EXPECT_EQ(found.first_flush, 4);
}

TEST(CacheFlushes, TheEndOfARecordingIsNoRequest) {
  Story story;
  story.event(Action::segment_free, kBase, 2 * kMiB);
  const CacheFlushes found = found_in(story);
  EXPECT_EQ(found.retries, 0);
  EXPECT_EQ(found.flushes, 1);
}

TEST(CacheFlushes, HostileSizesStayPositive) {
  Story story;
  story.event(Action::segment_free, kBase, INT64_MAX);
  story.event(Action::segment_free, kBase, INT64_MAX);
  story.event(Action::segment_free, kBase, -5);
  EXPECT_EQ(found_in(story).flush_bytes, INT64_MAX);
}

}  // namespace
}  // namespace gpustrata::analysis
