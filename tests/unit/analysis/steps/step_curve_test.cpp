#include "engine/analysis/steps/step_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using testing::ElementsAre;

TEST(StepCurve, EveryStepHasAsManyColumnsHoweverManyEventsItHas) {
  // Levels after events 0 to 6: 10, 30, 10, | 15, 75, 15, 16. Steps begin at 0 and 3.
  Story story;
  story.alloc(kBase, 10);
  story.alloc(kBase + 4096, 20).complete(kBase + 4096, 20);
  story.alloc(kBase + 8192, 5);
  story.alloc(kBase + 12288, 60).complete(kBase + 12288, 60);
  story.alloc(kBase + 16384, 1);
  const auto lives = story.lifetimes();
  ASSERT_TRUE(lives.has_value());
  Steps steps(story.recording.budget);
  ASSERT_TRUE(steps.begin.push_back(0) && steps.begin.push_back(3));
  steps.end = 7;
  // Columns: [0, 1), [1, 3), then [3, 5), [5, 7).
  const StepCurve two = step_curve(*lives, stretches_of(steps, 2), 2, 2);
  EXPECT_THAT(two.level, ElementsAre(10, 30, 75, 16));
  EXPECT_THAT(two.event, ElementsAre(0, 1, 4, 6));
  // More columns than events: one without events has the level before it. [0, 0), [0, 1), [1, 1), ...
  const StepCurve six = step_curve(*lives, stretches_of(steps, 1), 1, 6);
  EXPECT_THAT(six.level, ElementsAre(0, 10, 10, 30, 30, 10));
  // There is no third step.
  const StepCurve three = step_curve(*lives, stretches_of(steps, 3), 3, 1);
  EXPECT_EQ(three.level[1], 75);
  EXPECT_TRUE(std::isnan(three.level[2]));
  EXPECT_EQ(three.event[2], -2);
}

TEST(StepCurve, ReservedIsTheHighestInAColumn) {
  Story story;
  story.event(trace::Action::segment_alloc, kBase, 100);        // 0: 100
  story.event(trace::Action::segment_alloc, kBase + 4096, 50);  // 1: 150
  story.event(trace::Action::segment_free, kBase + 4096, 50);   // 2: 100
  story.alloc(kBase, 1);                                        // 3
  story.segment(kBase, 100).block(kBase, 100, 1, model::BlockState::active_allocated);
  const auto lives = story.lifetimes();
  ASSERT_TRUE(lives.has_value());
  Steps steps(story.recording.budget);
  ASSERT_TRUE(steps.begin.push_back(0));
  steps.end = 4;
  EXPECT_THAT(step_curve(*lives, stretches_of(steps, 1), 1, 2).reserved, ElementsAre(150, 100));
  EXPECT_THAT(step_curve(*lives, stretches_of(steps, 1), 1, 4).reserved, ElementsAre(100, 150, 100, 100));
}

// The highest reserved in a column may come before its highest level: 150 after event 1, level 7 after event 3.
TEST(StepCurve, ReservedIsTheHighestAlsoBeforeTheHighestLevel) {
  Story story;
  story.event(trace::Action::segment_alloc, kBase, 100);
  story.event(trace::Action::segment_alloc, kBase + 4096, 50);
  story.event(trace::Action::segment_free, kBase + 4096, 50);
  story.alloc(kBase, 7);
  story.segment(kBase, 100).block(kBase, 100, 7, model::BlockState::active_allocated);
  const auto lives = story.lifetimes();
  ASSERT_TRUE(lives.has_value());
  const std::vector<Stretch> all = {{0, 4}};
  EXPECT_THAT(step_curve(*lives, all, 1, 1).reserved, ElementsAre(150));
  EXPECT_THAT(step_curve(*lives, all, 1, 1).event, ElementsAre(3));
}

TEST(StepCurve, RegionsOfANameAreStretches) {
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
  using testing::IsEmpty;
  EXPECT_THAT(stretches_of(story.recording, regions, "forward", 9),
              ElementsAre(Stretch{2, 6}, Stretch{6, 9}, Stretch{10, 20}));
  EXPECT_THAT(stretches_of(story.recording, regions, "forward", 2),
              ElementsAre(Stretch{2, 6}, Stretch{6, 9}));
  EXPECT_THAT(stretches_of(story.recording, regions, "nothing", 9), IsEmpty());
}

}  // namespace
}  // namespace gpustrata::analysis
