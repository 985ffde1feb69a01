// What is kept stays while it is needed, and goes when its memory is.
#include "engine/base/memo.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/base/budget.h"
#include "engine/base/column.h"

namespace gpustrata {
namespace {

using Bytes = Column<uint8_t>;

struct Kept {
  explicit Kept(int64_t bytes) : budget(bytes) {}

  [[nodiscard]] Result<Bytes> make(size_t bytes) {
    ++made;
    Bytes column(budget);
    if (!column.resize(bytes, 0)) return fail(ErrorCode::limit_exceeded, -1, "no room");
    return column;
  }
  [[nodiscard]] const Bytes* get(std::string_view key, size_t bytes, const void* owner = nullptr) {
    const auto found = memo.get<Bytes>(owner, key, [&] { return make(bytes); });
    return found ? *found : nullptr;
  }

  Budget budget;
  Memo memo;
  int made = 0;
};

TEST(Memo, IsMadeOnceForAnOwnerATypeAndAKey) {
  Kept kept(1 << 20);
  const Bytes* const first = kept.get("a", 100);
  EXPECT_EQ(kept.get("a", 100), first);
  EXPECT_EQ(kept.made, 1);
  EXPECT_NE(kept.get("b", 100), first);
  EXPECT_NE(kept.get("a", 100, &kept), first);
  EXPECT_EQ(kept.made, 3);
  const auto number = kept.memo.get<int>(nullptr, "a", [] { return Result<int>(7); });
  EXPECT_EQ(**number, 7);
  EXPECT_EQ(kept.memo.count(), 4U);
}

TEST(Memo, WhatWasUsedLongestAgoGoesWhenMemoryEnds) {
  Kept kept(3000);
  ASSERT_NE(kept.get("a", 1000), nullptr);
  ASSERT_NE(kept.get("b", 1000), nullptr);
  ASSERT_NE(kept.get("a", 1000), nullptr);
  kept.memo.next_question();
  ASSERT_NE(kept.get("c", 1500), nullptr);  // b went
  EXPECT_EQ(kept.made, 4);                  // the first try was refused
  ASSERT_NE(kept.get("a", 1000), nullptr);
  EXPECT_EQ(kept.made, 4);
  ASSERT_EQ(kept.memo.count(), 2U);
}

TEST(Memo, NothingGoesWhileItsQuestionRuns) {
  Kept kept(2500);
  ASSERT_NE(kept.get("a", 1000), nullptr);
  ASSERT_NE(kept.get("b", 1000), nullptr);
  EXPECT_EQ(kept.get("c", 1000), nullptr);
  EXPECT_EQ(kept.memo.count(), 2U);
  kept.memo.next_question();
  EXPECT_NE(kept.get("b", 1000), nullptr);  // asked for again
  EXPECT_NE(kept.get("c", 1000), nullptr);
  EXPECT_EQ(kept.made, 5);
  EXPECT_EQ(kept.memo.count(), 2U);
}

TEST(Memo, WhatAnotherNeedsStays) {
  Kept kept(2500);
  const auto child = [&] {
    return kept.memo.get<Bytes>(nullptr, "child", [&]() -> Result<Bytes> {
      if (kept.get("parent", 1000) == nullptr) return fail(ErrorCode::limit_exceeded, -1, "no room");
      return kept.make(100);
    });
  };
  ASSERT_TRUE(child());
  kept.memo.next_question();
  ASSERT_TRUE(child());
  ASSERT_EQ(kept.made, 2);
  EXPECT_EQ(kept.get("other", 2000), nullptr) << "the child of this question needs its parent";
  kept.memo.next_question();
  EXPECT_NE(kept.get("other", 2000), nullptr) << "both went, the child first";
  EXPECT_EQ(kept.memo.count(), 1U);
}

TEST(Memo, WhatWorkAsksForIsNeededToo) {
  Kept kept(2500);
  const auto child = [&] { return kept.memo.get<int>(nullptr, "child", [] { return Result<int>(1); }); };
  ASSERT_TRUE(child());
  EXPECT_TRUE(kept.memo.work_on<int>(nullptr, "child", [&] { return kept.get("parent", 1000) != nullptr; }));
  kept.memo.next_question();
  ASSERT_TRUE(child());
  EXPECT_EQ(kept.get("other", 2000), nullptr);
  EXPECT_EQ(kept.memo.count(), 2U);
}

TEST(Memo, AnOwnerHasSoManyOfAType) {
  Kept kept(1 << 20);
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    kept.memo.next_question();
    ASSERT_NE(kept.get(key, 10), nullptr);
    ASSERT_NE(kept.get(key, 10, &kept), nullptr);
  }
  EXPECT_EQ(kept.memo.count(), 2 * Memo::kUsual);
  ASSERT_NE(kept.get("b", 10), nullptr);
  EXPECT_EQ(kept.made, 10);
  ASSERT_NE(kept.get("a", 10), nullptr);
  EXPECT_EQ(kept.made, 11);
}

TEST(Memo, OtherErrorsLetNothingGo) {
  Kept kept(1 << 20);
  ASSERT_NE(kept.get("a", 10), nullptr);
  kept.memo.next_question();
  const auto made = kept.memo.get<Bytes>(
      nullptr, "b", []() -> Result<Bytes> { return fail(ErrorCode::wrong_usage, -1, "no"); });
  EXPECT_EQ(made.error().code, ErrorCode::wrong_usage);
  EXPECT_EQ(kept.memo.count(), 1U);
}

TEST(Memo, WhatAnOwnerHasIsForgotten) {
  Kept kept(1 << 20);
  ASSERT_NE(kept.get("a", 1000), nullptr);
  ASSERT_NE(kept.get("a", 1000, &kept), nullptr);
  kept.memo.forget(&kept);
  EXPECT_EQ(kept.memo.count(), 1U);
  EXPECT_EQ(kept.budget.used(), 1000);
  kept.memo.forget(nullptr);
  EXPECT_EQ(kept.budget.used(), 0);
}

}  // namespace
}  // namespace gpustrata
