#include "engine/analysis/compare/same_run.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

constexpr uint64_t kPlace = 0x700000000;

// A block of 1 MiB each, at these times and places, in segments of 2 MiB.
class OneOfTwo {
 public:
  OneOfTwo(const std::vector<int64_t>& times, uint64_t first, int segments) {
    uint64_t address = first;
    for (const int64_t time : times) story_.alloc(address += 0x200000, kMiB).time(time);
    for (int i = 0; i < segments; ++i) story_.segment(first + 0x200000 * static_cast<uint64_t>(i), 2 * kMiB);
    story_.recording.parts[0].traces = {{0, {0, static_cast<int32_t>(times.size())}}};
    story_.recording.parts[0].segments = {0, segments};
    EXPECT_TRUE(story_.stored());
    story_.recording.seal();
  }
  [[nodiscard]] SideOfRun side() const { return {story_.recording, story_.recording.parts[0], 0}; }

 private:
  Story story_;
};
[[nodiscard]] bool is_one_run(const OneOfTwo& before, const OneOfTwo& after) {
  const auto found = are_of_one_run(before.side(), after.side());
  EXPECT_TRUE(found.has_value());
  return found.value_or(false);
}

TEST(SameRun, AnEventInCommon) {
  const OneOfTwo before({10, 20, 30}, kPlace, 1), after({20, 30, 40}, kPlace + 0x200000, 1);
  EXPECT_TRUE(is_one_run(before, after));  // 20 and 30: the second and third place
}

TEST(SameRun, TheSameTimeElsewhereIsNoneInCommon) {
  const OneOfTwo before({10, 20, 30}, kPlace, 2), after({20, 30, 40}, kPlace, 2);
  EXPECT_FALSE(is_one_run(before, after));  // at 20 the second place, and the first
}

TEST(SameRun, TheSameAddressesAtOtherTimesShowNothing) {
  const OneOfTwo before({10, 20}, kPlace, 4), after({1010, 1020}, kPlace, 4);
  EXPECT_FALSE(is_one_run(before, after));
}

TEST(SameRun, WithoutTimesHalfOfTheSegments) {
  const OneOfTwo before({model::kNoTime}, kPlace, 4), grown({model::kNoTime}, kPlace, 9);
  EXPECT_TRUE(is_one_run(before, grown));
  const OneOfTwo half({model::kNoTime}, kPlace + 2 * 0x200000, 4),
      less({model::kNoTime}, kPlace + 3 * 0x200000, 4);
  EXPECT_TRUE(is_one_run(before, half));
  EXPECT_FALSE(is_one_run(before, less));
  const OneOfTwo nothing({}, kPlace, 0);
  EXPECT_FALSE(is_one_run(nothing, nothing));
}

}  // namespace
}  // namespace gpustrata::analysis
