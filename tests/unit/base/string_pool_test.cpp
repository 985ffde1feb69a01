#include "engine/base/string_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace gpustrata {
namespace {

TEST(StringPool, EqualBytesGetEqualIds) {
  Budget budget(1 << 24);
  StringPool pool(budget);
  const StringId a = pool.intern("alpha"), empty = pool.intern("");
  EXPECT_EQ(pool.intern(std::string("al") + "pha"), a);
  EXPECT_EQ(pool.intern(""), empty);
  EXPECT_NE(a, empty);
  EXPECT_EQ(pool.view(a), "alpha");
  EXPECT_EQ(pool.view({}), "");
}

TEST(StringPool, KeepsBytesThatAreNoText) {
  Budget budget(1 << 24);
  StringPool pool(budget);
  const std::string bytes("\0\xff\0x", 4);
  EXPECT_EQ(pool.view(pool.intern(bytes)), bytes);
  EXPECT_EQ(pool.find(bytes.substr(0, 2)), StringId());
}

TEST(StringPool, FindsAllOfManyStrings) {
  Budget budget(1 << 24);
  StringPool pool(budget);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(pool.intern(fmt::format("string {}", i)), StringId(i));
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(pool.find(fmt::format("string {}", i)), StringId(i));
  EXPECT_EQ(pool.size(), 20000u);
}

TEST(StringPool, IsNoneWhenTheBudgetIsUsedUp) {
  Budget budget(300'000);
  StringPool pool(budget);
  ASSERT_FALSE(pool.intern("fits").is_none());
  EXPECT_TRUE(pool.intern(std::string(1 << 20, 'x')).is_none());
  EXPECT_EQ(pool.view(pool.find("fits")), "fits");
  EXPECT_GT(budget.needed(), 1 << 20);
}

TEST(StringPool, GivesEverythingBack) {
  Budget budget(1 << 24);
  {
    StringPool pool(budget);
    ASSERT_FALSE(pool.intern(std::string(1 << 20, 'x')).is_none());
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace gpustrata
