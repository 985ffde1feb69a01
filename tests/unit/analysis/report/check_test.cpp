// Rules that a recording must keep: just kept, just broken, and what cannot be told.
#include "engine/analysis/report/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace gpustrata::analysis {
namespace {

template <typename T, typename Value>
[[nodiscard]] CheckRules only(T CheckRules::*rule, Value value) {
  CheckRules rules;
  rules.*rule = value;
  return rules;
}

// A peak of 1000 bytes at event 7, 2000 reserved after event 3.
class RulesOfCheck : public testing::Test {
 protected:
  RulesOfCheck() {
    report.overview.device = 2;
    report.peak.bytes = 1000;
    report.peak.event = 7;
    report.overview.highest_reserved.reserved = 2000;
    report.overview.highest_reserved.event = 3;
    report.steps = &steps;
  }
  // Of the one rule that is asked for.
  [[nodiscard]] CheckedRule checked(const CheckRules& rules,
                                    std::optional<Baseline> baseline = std::nullopt) {
    const auto found = check_device(report, rules, incomplete, baseline);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? CheckedRule{} : found[0];
  }
  Budget budget{int64_t{1} << 20};
  // Three steps that the profiler marked, from events 10, 20, 30.
  void mark_steps() {
    steps.from = StepsFrom::annotations;
    for (const int32_t begin : {10, 20, 30}) EXPECT_TRUE(steps.begin.push_back(begin));
  }
  void lack(NotRecorded what) { report.overview.missing.push_back({what}); }
  bool incomplete = false;
  Steps steps{budget};
  Report report{budget};
};

TEST_F(RulesOfCheck, ALimitItselfIsKept) {
  const CheckedRule kept = checked(only(&CheckRules::max_peak, 1000)),
                    broken = checked(only(&CheckRules::max_peak, 999));
  EXPECT_TRUE(kept.kept);
  EXPECT_EQ(kept.kind, RuleKind::max_peak);
  EXPECT_EQ(kept.value, 1000);
  EXPECT_EQ(kept.limit, 1000);
  EXPECT_EQ(kept.device, 2);
  EXPECT_EQ(kept.event, 7);
  EXPECT_FALSE(broken.kept);
  EXPECT_TRUE(checked(only(&CheckRules::max_reserved, 2000)).kept);
  EXPECT_FALSE(checked(only(&CheckRules::max_reserved, 1999)).kept);
  EXPECT_EQ(checked(only(&CheckRules::max_reserved, 1999)).event, 3);
}

TEST_F(RulesOfCheck, ThePeakIsOfTheStackThatHoldsMostOfIt) {
  EXPECT_TRUE(checked(only(&CheckRules::max_peak, 1)).stack.is_none());
  ASSERT_TRUE(report.peak.groups.push_back({{.bytes = 600, .blocks = 1}, StackId{5}, {}}) &&
              report.peak.groups.push_back({{.bytes = 400, .blocks = 1}, StackId{4}, {}}));
  EXPECT_EQ(checked(only(&CheckRules::max_peak, 1)).stack, StackId{5});
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 1.0), Baseline{1000}).stack, StackId{5});
}

TEST_F(RulesOfCheck, WhatIsNotKnownIsNeitherKeptNorBroken) {
  report.overview.highest_reserved.reserved = std::nullopt;
  EXPECT_EQ(checked(only(&CheckRules::max_reserved, 1)).value, std::nullopt);
  EXPECT_FALSE(checked(only(&CheckRules::max_reserved, 1)).kept);
  EXPECT_EQ(checked(only(&CheckRules::max_fragmentation, 0.5)).value, std::nullopt);
}

// The file shows a peak of 1000 and 2000 reserved; the run may have had more before.
TEST_F(RulesOfCheck, OfLostEventsWhatIsThereMayBreakARuleButNotKeepIt) {
  const std::pair<Undecided, std::function<void()>> all[] = {
      {Undecided::events_lost, [&] { lack(NotRecorded::oldest_events); }},
      {Undecided::not_ended, [&] { report.ending.is_open = true; }},
      {Undecided::ends_out_of_memory,
       [&] { report.ending = {.device = 1, .event = 5}; }},  // on another device
      {Undecided::no_history, [&] { lack(NotRecorded::history); }}};
  for (const auto& [reason, lose] : all) {
    report.overview.missing.clear();
    report.ending = {};
    lose();
    for (const CheckRules& rules : {only(&CheckRules::max_peak, 1000), only(&CheckRules::max_reserved, 2000),
                                    only(&CheckRules::no_oom, true)}) {
      EXPECT_EQ(checked(rules).undecided, reason);
      EXPECT_FALSE(checked(rules).kept);
    }
    EXPECT_EQ(checked(only(&CheckRules::max_growth, 0.25), Baseline{800}).undecided, reason);
    for (const CheckRules& rules :
         {only(&CheckRules::max_peak, 999), only(&CheckRules::max_reserved, 1999)}) {
      EXPECT_EQ(checked(rules).undecided, Undecided::no);
      EXPECT_FALSE(checked(rules).kept);
    }
  }
  report.out_of_memory.all = 1;
  EXPECT_EQ(checked(only(&CheckRules::no_oom, true)).undecided, Undecided::no);
  // What leaked was in the steps before.
  mark_steps();
  report.overview.missing.clear();
  report.ending = {.device = 2, .event = 8};
  EXPECT_TRUE(checked(only(&CheckRules::no_leak, true)).kept);
  report.ending = {};
  lack(NotRecorded::history);
  lack(NotRecorded::times);  // does no harm
  report.overview.missing.erase(report.overview.missing.begin());
  EXPECT_TRUE(checked(only(&CheckRules::max_peak, 1000)).kept);
}

// Of 1500 that were reserved when it began, all may have been in use before.
TEST_F(RulesOfCheck, WhatWasReservedBeforeTheRecordingMayHaveBeenInUse) {
  report.overview.reserved_at_start = 1500;
  EXPECT_EQ(checked(only(&CheckRules::max_peak, 1499)).undecided, Undecided::starts_in_use);
  EXPECT_EQ(checked(only(&CheckRules::max_peak, 1499)).value, 1000);
  EXPECT_TRUE(checked(only(&CheckRules::max_peak, 1500)).kept);
  EXPECT_EQ(checked(only(&CheckRules::max_peak, 999)).undecided, Undecided::no);  // broken
  EXPECT_TRUE(checked(only(&CheckRules::max_reserved, 2000)).kept);
  EXPECT_TRUE(checked(only(&CheckRules::no_oom, true)).kept);
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 0.25), Baseline{1000}).undecided, Undecided::starts_in_use);
  EXPECT_TRUE(checked(only(&CheckRules::max_growth, 0.5), Baseline{1000}).kept);
  report.overview.reserved_at_start.reset();
  EXPECT_TRUE(checked(only(&CheckRules::max_peak, 1000)).kept);
}

TEST_F(RulesOfCheck, WithoutEventsOfSegmentsWhatIsReservedIsNotKnown) {
  report.lacks_segments = true;
  EXPECT_EQ(checked(only(&CheckRules::max_reserved, 2000)).undecided, Undecided::segments_missing);
  EXPECT_EQ(checked(only(&CheckRules::max_reserved, 1999)).undecided, Undecided::segments_missing);
  EXPECT_FALSE(checked(only(&CheckRules::max_reserved, 2000)).kept);
  EXPECT_TRUE(checked(only(&CheckRules::max_peak, 1000)).kept);
}

TEST_F(RulesOfCheck, OfAnIncompleteFileOnlyAFailedRequestIsSure) {
  incomplete = true;
  mark_steps();
  report.fragmentation.emplace();
  for (const CheckRules& rules : {only(&CheckRules::max_peak, 1), only(&CheckRules::max_reserved, 5000),
                                  only(&CheckRules::no_leak, true), only(&CheckRules::max_fragmentation, 1.0),
                                  only(&CheckRules::no_oom, true)}) {
    EXPECT_EQ(checked(rules).undecided, Undecided::incomplete);
    EXPECT_FALSE(checked(rules).kept);
  }
  report.out_of_memory.all = 1;
  EXPECT_EQ(checked(only(&CheckRules::no_oom, true)).undecided, Undecided::no);
}

TEST_F(RulesOfCheck, NoLeakIsSaidOfStepsThatAreMarkedOnly) {
  const CheckRules rules = only(&CheckRules::no_leak, true);
  EXPECT_EQ(checked(rules).undecided, Undecided::no_steps);
  steps.why_not = NoLoop::of_trace;
  EXPECT_EQ(checked(rules).undecided, Undecided::steps_of_trace);
  mark_steps();
  EXPECT_EQ(checked(rules).undecided, Undecided::no);
  steps.from = StepsFrom::regions;
  EXPECT_EQ(checked(rules).undecided, Undecided::no);
  report.leaks.leaks.emplace_back().confidence = 0.79;
  EXPECT_EQ(checked(rules).undecided, Undecided::unsure_leak);
  report.leaks.leaks.clear();
  report.leaks.level_rises = true;
  EXPECT_EQ(checked(rules).undecided, Undecided::unsure_leak);
  report.leaks.level_rises = false;
  lack(NotRecorded::oldest_events);  // a leak would be in the rest, too
  EXPECT_EQ(checked(rules).undecided, Undecided::no);
  steps.from = StepsFrom::loop;
  EXPECT_EQ(checked(rules).undecided, Undecided::guessed_steps);
  report.leaks.leaks.emplace_back().confidence = kSureLeak;
  EXPECT_EQ(checked(rules).undecided, Undecided::no);
  EXPECT_FALSE(checked(rules).kept);
  report.leaks.leaks[0].confidence = 0.79;
  EXPECT_EQ(checked(rules).undecided, Undecided::guessed_steps);
  EXPECT_EQ(checked(rules).value, 1);
  report.leaks.leaks.clear();
  steps.begin.pop_back();
  EXPECT_EQ(checked(rules).undecided, Undecided::few_steps);
  report.overview.missing = {{NotRecorded::history}};
  EXPECT_EQ(checked(rules).undecided, Undecided::no_history);
}

TEST_F(RulesOfCheck, GrowthNeedsABaselineWhosePeakIsKnown) {
  const auto growth = checked(only(&CheckRules::max_growth, 9.0), Baseline{800, false});
  EXPECT_EQ(growth.undecided, Undecided::baseline);
  EXPECT_FALSE(growth.kept);
}

TEST_F(RulesOfCheck, NoFailureAndNoLeakMeanNone) {
  EXPECT_TRUE(checked(only(&CheckRules::no_oom, true)).kept);
  EXPECT_EQ(checked(only(&CheckRules::no_oom, true)).event, -1);
  report.out_of_memory.all = 1;
  EXPECT_FALSE(checked(only(&CheckRules::no_oom, true)).kept);
  EXPECT_EQ(checked(only(&CheckRules::no_oom, true)).value, 1);
  mark_steps();
  EXPECT_TRUE(checked(only(&CheckRules::no_leak, true)).kept);
  Leak leak;
  leak.first_step = 1;
  report.leaks.leaks.push_back(leak);
  report.leaks.left_out = 3;
  EXPECT_FALSE(checked(only(&CheckRules::no_leak, true)).kept);
  EXPECT_EQ(checked(only(&CheckRules::no_leak, true)).value, 4);
  EXPECT_EQ(checked(only(&CheckRules::no_leak, true)).event, 20);
}

// 100 of 1000 bytes are lost.
TEST_F(RulesOfCheck, FragmentationIsAShareOfWhatIsReserved) {
  report.fragmentation.emplace();
  report.fragmentation->event = 5;
  report.fragmentation->reserved = 1000;
  report.fragmentation->cached = 300;
  report.fragmentation->largest_free = 200;
  report.fragmentation->held_back = 300;
  EXPECT_TRUE(checked(only(&CheckRules::max_fragmentation, 0.1)).kept);
  EXPECT_FALSE(checked(only(&CheckRules::max_fragmentation, 0.099)).kept);
  EXPECT_EQ(checked(only(&CheckRules::max_fragmentation, 0.1)).event, 5);
  report.fragmentation->held_back = 50;
  EXPECT_DOUBLE_EQ(*checked(only(&CheckRules::max_fragmentation, 1)).value, 0.05);
  report.fragmentation->reserved = 0;
  EXPECT_EQ(checked(only(&CheckRules::max_fragmentation, 0)).value, 0);
}

TEST_F(RulesOfCheck, GrowthIsAShareOfThePeakBefore) {
  EXPECT_TRUE(check_device(report, only(&CheckRules::max_growth, 0.1), false, std::nullopt)
                  .empty());  // nothing to compare with
  EXPECT_DOUBLE_EQ(*checked(only(&CheckRules::max_growth, 0.25), Baseline{800}).value, 0.25);
  EXPECT_TRUE(checked(only(&CheckRules::max_growth, 0.25), Baseline{800}).kept);
  EXPECT_FALSE(checked(only(&CheckRules::max_growth, 0.24), Baseline{800}).kept);
  EXPECT_DOUBLE_EQ(*checked(only(&CheckRules::max_growth, 0), Baseline{2000}).value, -0.5);
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 0.5), Baseline{0}).value, 1);  // from nothing
  report.peak.bytes = 0;
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 0), Baseline{0}).value, 0);
  EXPECT_TRUE(checked(only(&CheckRules::max_growth, 0), Baseline{0}).kept);
}

TEST(RulesThatAreAsked, AnyOfThem) {
  EXPECT_FALSE(CheckRules{}.any());
  EXPECT_TRUE(only(&CheckRules::max_peak, 0).any());
  EXPECT_TRUE(only(&CheckRules::max_reserved, 0).any());
  EXPECT_TRUE(only(&CheckRules::no_oom, true).any());
  EXPECT_TRUE(only(&CheckRules::no_leak, true).any());
  EXPECT_TRUE(only(&CheckRules::max_fragmentation, 0).any());
  EXPECT_TRUE(only(&CheckRules::max_growth, 0).any());
}

}  // namespace
}  // namespace gpustrata::analysis
