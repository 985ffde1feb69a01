// What recordings repeat more and less often: sequences written out.
#include "engine/analysis/fit/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "engine/base/budget.h"

namespace gpustrata::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A letter for each request: the line that asks. All ask for as much, but where sizes are given.
[[nodiscard]] std::vector<FoundRepeat> repeats_of(const std::vector<std::string_view>& texts,
                                                  const std::vector<std::vector<int64_t>>& sizes = {}) {
  std::vector<std::vector<int32_t>> symbols;
  std::vector<std::vector<int64_t>> all_sizes = sizes;
  for (const std::string_view text : texts) {
    symbols.emplace_back(text.begin(), text.end());
    if (sizes.empty()) all_sizes.emplace_back(text.size(), 512);
  }
  std::vector<RequestSequence> all;
  for (size_t i = 0; i < texts.size(); ++i) all.push_back({symbols[i], all_sizes[i], 0});
  Budget budget(int64_t{1} << 20);
  const auto found = find_repeats(all, budget);
  EXPECT_TRUE(found.has_value());
  return found ? *found : std::vector<FoundRepeat>();
}

TEST(FitRepeats, WhatIsTheSameHasNone) { EXPECT_THAT(repeats_of({"wabababz", "wabababz"}), IsEmpty()); }

TEST(FitRepeats, TurnsAreCountedInEachRecording) {
  const auto found = repeats_of({"wababz", "wababababz"});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].period, 2);
  EXPECT_THAT(found[0].times, ElementsAre(2, 4));
  EXPECT_THAT(found[0].begin, ElementsAre(1, 1));
}

TEST(FitRepeats, ThreeRecordingsAgreeOnTheTurn) {
  const auto found = repeats_of({"wabcabcz", "wabcabcabcz", "wabcabcabcabcabcz"});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].times, ElementsAre(2, 3, 5));
}

TEST(FitRepeats, OneAfterTheOther) {
  // Layers: forward a, backward b.
  const auto found = repeats_of({"waabbz", "waaaabbbbz"});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].times, ElementsAre(2, 4));
  EXPECT_THAT(found[1].times, ElementsAre(2, 4));
  EXPECT_THAT(found[1].begin, ElementsAre(3, 5));
}

TEST(FitRepeats, SizesTellTheTurnWhereAllLinesAreOne) {
  // Three parameters of 1, 2 and 3 for each layer, then two of 9: one line asks for the optimizer's state of all.
  const auto found = repeats_of(
      {"wsssssssszzz", "wsssssssssssssszzz"},
      {{5, 1, 2, 3, 1, 2, 3, 9, 9, 7, 7, 7}, {5, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9, 9, 7, 7, 7}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].period, 3);
  EXPECT_THAT(found[0].times, ElementsAre(2, 4));
  EXPECT_THAT(found[0].begin, ElementsAre(1, 1));
}

TEST(FitRepeats, OfALongerRecordingOnlyWhatWasRepeatedBefore) {
  // A recording of more steps is no repeat; one that ends within the repeat that there was before is.
  EXPECT_THAT(repeats_of({"abcabc", "abcabcabc"}), IsEmpty());
  EXPECT_THAT(repeats_of({"waazaa", "waaaazaaaa"}), SizeIs(2));
}

TEST(FitRepeats, OtherRequestsAreNone) {
  EXPECT_THAT(repeats_of({"wabcdefghijkz", "wabcxdefghijkz"}), IsEmpty());
}

}  // namespace
}  // namespace gpustrata::analysis
