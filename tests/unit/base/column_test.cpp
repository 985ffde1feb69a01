#include "engine/base/column.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpustrata {
namespace {

TEST(Column, RefusalByTheBudgetLeavesItAsItWas) {
  Budget budget(1000);
  Column<int32_t> column(budget);
  ASSERT_TRUE(column.resize(100, 7));
  const int64_t used = budget.used();
  EXPECT_FALSE(column.reserve(1000));
  EXPECT_EQ(column.size(), 100u);
  EXPECT_EQ(column[99], 7);
  EXPECT_EQ(budget.used(), used);
  EXPECT_GE(budget.needed(), 4000);  // what it would have taken is remembered
}

TEST(Column, GivesItsBytesBackWhenItEnds) {
  Budget budget(1 << 20);
  {
    Column<int64_t> column(budget);
    ASSERT_TRUE(column.resize(1000, 1));
    EXPECT_EQ(budget.used(), 8000);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(Column, MovingTakesTheChargeAlong) {
  Budget budget(1 << 20);
  Column<int32_t> first(budget), second(budget);
  ASSERT_TRUE(first.resize(10, 1) && second.resize(20, 2));
  second = std::move(first);
  EXPECT_EQ(second.size(), 10u);
  EXPECT_EQ(budget.used(), 40);
}

TEST(Column, ShrinkingAnEmptyOneFreesIt) {
  Budget budget(1 << 20);
  Column<int32_t> column(budget);
  ASSERT_TRUE(column.push_back(1));
  column.clear();
  column.shrink_to_fit();
  EXPECT_EQ(budget.used(), 0);
  EXPECT_TRUE(column.push_back(2));
  EXPECT_EQ(column.back(), 2);
}

TEST(Column, AnImpossibleNumberOfElementsIsRefused) {
  Budget budget(INT64_MAX);
  Column<int64_t> column(budget);
  EXPECT_FALSE(column.reserve(SIZE_MAX / 4));
  EXPECT_EQ(budget.used(), 0);
}

TEST(Column, AppendsAnArrayInOneGo) {
  Budget budget(1 << 20);
  Column<int32_t> column(budget);
  const std::vector<int32_t> values{3, 4, 5};
  ASSERT_TRUE(column.append(values) && column.append(values));
  EXPECT_EQ(std::vector<int32_t>(column.begin(), column.end()), (std::vector<int32_t>{3, 4, 5, 3, 4, 5}));
}

}  // namespace
}  // namespace gpustrata
