// Rules that a recording must keep: just kept, just broken, and what cannot be told.
#include "engine/analysis/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  }
  // Of the one rule that is asked for.
  [[nodiscard]] CheckedRule checked(const CheckRules& rules, std::optional<int64_t> baseline = std::nullopt) {
    const auto found = check_device(report, rules, baseline);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? CheckedRule{} : found[0];
  }
  Budget budget{int64_t{1} << 20};
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
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 1.0), 1000).stack, StackId{5});
}

TEST_F(RulesOfCheck, WhatIsNotKnownIsNeitherKeptNorBroken) {
  report.overview.highest_reserved.reserved = std::nullopt;
  EXPECT_EQ(checked(only(&CheckRules::max_reserved, 1)).value, std::nullopt);
  EXPECT_FALSE(checked(only(&CheckRules::max_reserved, 1)).kept);
  EXPECT_EQ(checked(only(&CheckRules::max_fragmentation, 0.5)).value, std::nullopt);
}

TEST_F(RulesOfCheck, NoFailureAndNoLeakMeanNone) {
  EXPECT_TRUE(checked(only(&CheckRules::no_oom, true)).kept);
  EXPECT_EQ(checked(only(&CheckRules::no_oom, true)).event, -1);
  report.out_of_memory.all = 1;
  EXPECT_FALSE(checked(only(&CheckRules::no_oom, true)).kept);
  EXPECT_EQ(checked(only(&CheckRules::no_oom, true)).value, 1);
  EXPECT_TRUE(checked(only(&CheckRules::no_leak, true)).kept);
  Steps steps(budget);
  ASSERT_TRUE(steps.begin.push_back(10) && steps.begin.push_back(20));
  report.steps = &steps;
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
  EXPECT_TRUE(check_device(report, only(&CheckRules::max_growth, 0.1), std::nullopt)
                  .empty());  // nothing to compare with
  EXPECT_DOUBLE_EQ(*checked(only(&CheckRules::max_growth, 0.25), 800).value, 0.25);
  EXPECT_TRUE(checked(only(&CheckRules::max_growth, 0.25), 800).kept);
  EXPECT_FALSE(checked(only(&CheckRules::max_growth, 0.24), 800).kept);
  EXPECT_DOUBLE_EQ(*checked(only(&CheckRules::max_growth, 0), 2000).value, -0.5);
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 0.5), 0).value, 1);  // from nothing
  report.peak.bytes = 0;
  EXPECT_EQ(checked(only(&CheckRules::max_growth, 0), 0).value, 0);
  EXPECT_TRUE(checked(only(&CheckRules::max_growth, 0), 0).kept);
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
