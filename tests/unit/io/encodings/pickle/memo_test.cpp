#include "engine/io/encodings/pickle/memo.h"

#include <gtest/gtest.h>

namespace gpustrata::tests {
namespace {

using io::pickle::Memo;
using io::values::Tag;
using io::values::Value;

void expect_equal(const Value& a, const Value& b) {
  EXPECT_EQ(a.tag, b.tag);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.num, b.num);
}

TEST(Memo, GivesBackWhatWasStored) {
  Budget budget(int64_t{64} << 20);
  Memo memo(budget);
  const Value values[] = {{Tag::string, 5, 0},
                          {Tag::own_rows_0, 7, 0},
                          {Tag::own_rows_0, 7, 3},
                          {Tag::integer, 0, 1U << 31},
                          {Tag::text, 9, 2},
                          {Tag::own_kept_2, 1, 10},
                          {Tag::own_id_0, 1U << 28, 0},
                          {Tag::string, (1U << 28) - 1, 0},
                          {Tag::none, 0, 0}};
  uint32_t slot = 0;
  for (const Value& value : values) ASSERT_TRUE(memo.put(slot += 20000, value));
  slot = 0;
  for (const Value& value : values) expect_equal(memo.get(slot += 20000), value);
  EXPECT_EQ(memo.used(), std::size(values));
}

TEST(Memo, SlotsNeverStoredAreUndefined) {
  Budget budget(int64_t{1} << 20);
  Memo memo(budget);
  ASSERT_TRUE(memo.put(70000, {Tag::string, 1, 0}));
  EXPECT_EQ(memo.get(0).tag, Tag::undefined);
  EXPECT_EQ(memo.get(70001).tag, Tag::undefined);
  EXPECT_EQ(memo.get(UINT32_MAX).tag, Tag::undefined);
}

TEST(Memo, StoringAgainReplacesAndDoesNotCount) {
  Budget budget(int64_t{1} << 20);
  Memo memo(budget);
  ASSERT_TRUE(memo.put(3, {Tag::integer, 0, 1}));
  ASSERT_TRUE(memo.put(3, {Tag::integer, 0, 2}));
  expect_equal(memo.get(3), {Tag::integer, 0, 2});
  ASSERT_TRUE(memo.put(3, {Tag::string, 4, 0}));
  expect_equal(memo.get(3), {Tag::string, 4, 0});
  EXPECT_EQ(memo.used(), 1U);
}

TEST(Memo, RefusesBeyondTheBudgetAndGivesItBack) {
  Budget budget(200000);  // one page of 128 KiB
  {
    Memo memo(budget);
    EXPECT_TRUE(memo.put(0, {Tag::string, 1, 0}));
    EXPECT_FALSE(memo.put(1 << 15, {Tag::string, 2, 0}));
    expect_equal(memo.get(0), {Tag::string, 1, 0});
    EXPECT_EQ(memo.get(1 << 15).tag, Tag::undefined);
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace gpustrata::tests
