// Sizes of which any sum passes 2^63: totals stay at 2^63 - 1, and are never negative.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/details/segment_stats.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/details/memory_after.h"
#include "engine/answers/details/segment_stats.h"
#include "engine/answers/text/json_of.h"
#include "engine/base/saturating.h"
#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/answers/collected.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using model::BlockState;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kQuarter = int64_t{1} << 62;  // bytes; three of them are more than 2^63 - 1

// Three free segments, and three with one block each.
void three_of_each(Story& story) {
  for (uint64_t i = 0; i < 3; ++i)
    story.segment(i << 62, kQuarter).block(i << 62, kQuarter, 0, BlockState::inactive);
}

TEST(HostileSums, SaturateOnBothSides) {
  EXPECT_EQ(saturated_sum(kMost, 1), kMost);
  EXPECT_EQ(saturated_sum(-kMost, -2), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(saturated_sum(2, 3), 5);
  EXPECT_EQ(saturated_difference(-2, kMost), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(saturated_difference(0, std::numeric_limits<int64_t>::min()), kMost);
}

TEST(HostileSums, FreeMemoryIsNotNegativeAndNotNothing) {
  Story story;
  three_of_each(story);
  const OpenedStory opened(story);
  const auto memory = opened.at_end();
  const MemoryTotals totals = memory_totals(opened.context(), memory);
  EXPECT_EQ(totals.free, kMost);
  const std::string json = answers::json_of(totals);
  EXPECT_THAT(json, HasSubstr("\"free\":9223372036854775807"));
  EXPECT_THAT(json, Not(HasSubstr("No memory inside")));
  EXPECT_THAT(answers::text_of_answer(opened.recording, *opened.history, memory),
              HasSubstr("9,223,372,036,854,775,807"));
}

TEST(HostileSums, StatsOfBlocksStayAtTheMost) {
  Story story;
  for (uint64_t i = 0; i < 3; ++i)
    story.segment(i << 62, kQuarter).block(i << 62, kQuarter, kQuarter, BlockState::active_allocated);
  const OpenedStory opened(story);
  const auto memory = opened.at_end();
  const auto stats = memory_stats(memory, opened.recording.budget);
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->sum.allocated, kMost);
  EXPECT_EQ(stats->sum.requested, kMost);
  EXPECT_THAT(answers::text_of_answer(opened.context(), memory, *stats), Not(HasSubstr(" -")));
  const auto stacks =
      fold_memory(opened.recording, *opened.history, memory, opened.index->streams, {false, true});
  ASSERT_TRUE(stacks.has_value());
  ASSERT_EQ(stacks->lines().size(), 1u);
  EXPECT_EQ(stacks->total(), kMost);
  EXPECT_THAT(answers::collected([&](answers::TextOut& out) { flame_to_svg(out, *stacks, "all"); }),
              HasSubstr("(9,223,372,036,854,775,807 bytes)"));
}

TEST(HostileSums, FreeMemoryIsThatOfSegmentsWhereverBlocksLie) {
  // A segment of 20 MiB with a block of 1 MiB, and a block of 40 MiB that is in none: 19 MiB are free.
  Story story;
  story.segment(0x1000000, 20 * kMiB)
      .block(0x1000000, kMiB, kMiB, BlockState::active_allocated)
      .block(0x1000000 + kMiB, 19 * kMiB, 0, BlockState::inactive);
  story.alloc(0x90000000, 40 * kMiB).request(0x90000000, 40 * kMiB).complete(0x90000000, 40 * kMiB);
  const OpenedStory opened(story);
  const auto memory = opened.after(0);
  ASSERT_EQ(memory.outside().size(), 1u);
  EXPECT_EQ(free_bytes(memory), 19 * kMiB);
  EXPECT_THAT(answers::text_of_answer(opened.recording, *opened.history, memory),
              HasSubstr("free       19.0 MiB (19,922,944 bytes) in 1 blocks, the largest 19.0 MiB"));
}

}  // namespace
}  // namespace gpustrata::analysis
