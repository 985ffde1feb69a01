#include "engine/analysis/steps/step_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/replay/timeline.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNan;

constexpr int64_t kWidth = kStretchUnits;

// Of a story: what columns of stretches have.
class Drawn {
 public:
  explicit Drawn(Story& story)
      : lives_(story.lifetimes()), timeline_(replay::Timeline::build(story.recording, *lives_)) {}
  [[nodiscard]] replay::LevelValues of(LevelOf of, const std::vector<Stretch>& stretches, int64_t width,
                                       int32_t count) const {
    const auto events = events_of_columns(stretches, {0, width, count});
    return level_values(*timeline_, events, static_cast<size_t>(count), of);
  }

 private:
  Result<replay::BlockLives> lives_;
  Result<replay::Timeline> timeline_;
};

TEST(Levels, EveryStepHasAsManyColumnsHoweverManyEventsItHas) {
  // Levels after events 0 to 6: 10, 30, 10, | 15, 75, 15, 16. Steps begin at 0 and 3.
  Story story;
  story.alloc(kBase, 10);
  story.alloc(kBase + 4096, 20).complete(kBase + 4096, 20);
  story.alloc(kBase + 8192, 5);
  story.alloc(kBase + 12288, 60).complete(kBase + 12288, 60);
  story.alloc(kBase + 16384, 1);
  const Drawn drawn(story);
  Steps steps(story.recording.budget);
  ASSERT_TRUE(steps.begin.push_back(0) && steps.begin.push_back(3));
  steps.end = 7;
  const auto all = stretches_of(steps);
  // Columns: [0, 1), [1, 3), then [3, 5), [5, 7).
  const auto two = drawn.of(LevelOf::allocated, all, kWidth / 2, 4);
  EXPECT_THAT(two.highest, ElementsAre(10, 30, 75, 16));
  EXPECT_THAT(two.lowest, ElementsAre(10, 10, 15, 15));
  // More columns than events: one without events has the level before it. [0, 0), [0, 0), [0, 1), [1, 1), [1, 1), ...
  EXPECT_THAT(drawn.of(LevelOf::allocated, all, kWidth / 8, 8).highest,
              ElementsAre(0, 0, 10, 10, 10, 30, 30, 10));
  // There is no third step; two steps in a column, and half of the first.
  EXPECT_THAT(drawn.of(LevelOf::allocated, all, kWidth, 3).highest, ElementsAre(30, 75, IsNan()));
  EXPECT_THAT(drawn.of(LevelOf::allocated, all, 2 * kWidth, 2).highest, ElementsAre(75, IsNan()));
}

TEST(Levels, WhatLiesBetweenStretchesIsLeftOut) {
  // Levels 10, 90, 10, 20.
  Story story;
  story.alloc(kBase, 10);
  story.alloc(kBase + 4096, 80).complete(kBase + 4096, 80);
  story.alloc(kBase + 8192, 10);
  const Drawn drawn(story);
  const std::vector<Stretch> ends = {{0, 1}, {2, 4}};
  EXPECT_THAT(drawn.of(LevelOf::allocated, ends, 2 * kWidth, 1).highest, ElementsAre(20));
  EXPECT_THAT(drawn.of(LevelOf::allocated, {}, kWidth, 1).highest, ElementsAre(IsNan()));
}

// The highest reserved in a column may come before its highest level.
TEST(Levels, ReservedIsTheHighestInAColumn) {
  Story story;
  story.event(trace::Action::segment_alloc, kBase, 100);        // 0: 100
  story.event(trace::Action::segment_alloc, kBase + 4096, 50);  // 1: 150
  story.event(trace::Action::segment_free, kBase + 4096, 50);   // 2: 100
  story.alloc(kBase, 1);                                        // 3
  story.segment(kBase, 100).block(kBase, 100, 1, model::BlockState::active_allocated);
  const Drawn drawn(story);
  const std::vector<Stretch> all = {{0, 4}};
  EXPECT_THAT(drawn.of(LevelOf::reserved, all, kWidth, 1).highest, ElementsAre(150));
  EXPECT_THAT(drawn.of(LevelOf::reserved, all, kWidth / 2, 2).highest, ElementsAre(150, 100));
  EXPECT_THAT(drawn.of(LevelOf::reserved, all, kWidth / 4, 4).highest, ElementsAre(100, 150, 100, 100));
  EXPECT_THAT(drawn.of(LevelOf::reserved, all, kWidth / 4, 4).lowest,
              ElementsAre(IsNan(), IsNan(), IsNan(), IsNan()));
}

TEST(Levels, RegionsOfANameAreStretches) {
  Story story;
  const StringId forward = story.text("forward"), other = story.text("other");
  const auto region = [](StringId name, int32_t from, int32_t to) {
    Region one;
    one.name = name;
    one.from_event = from;
    one.to_event = to;
    return one;
  };
  // One inside of another of its name counts once; one without an event, or of another name, does not.
  const std::vector<Region> regions = {region(forward, 10, 20), region(forward, 2, 6), region(forward, 3, 5),
                                       region(other, 0, 30),    region(forward, 6, 6), region(forward, 6, 9)};
  EXPECT_THAT(stretches_of(story.recording, regions, "forward"),
              ElementsAre(Stretch{2, 6}, Stretch{6, 9}, Stretch{10, 20}));
  EXPECT_THAT(stretches_of(story.recording, regions, "nothing"), IsEmpty());
}

}  // namespace
}  // namespace gpustrata::analysis
