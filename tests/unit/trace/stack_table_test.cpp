#include "engine/trace/stack_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gpustrata::trace {
namespace {

Frame frame(int32_t name, int32_t line = 1) { return {StringId{name}, StringId{0}, line, -1}; }

TEST(FrameTable, EqualFramesAreOne) {
  Budget budget(1 << 20);
  FrameTable frames(budget);
  const FrameId first = frames.intern(frame(1, 10));
  EXPECT_EQ(frames.intern(frame(1, 10)), first);
  EXPECT_NE(frames.intern(frame(1, 11)), first);
  EXPECT_NE(frames.intern(frame(2, 10)), first);
  EXPECT_EQ(frames.size(), 3u);
}

TEST(FrameTable, FxDataMakesAnotherFrame) {
  Budget budget(1 << 20);
  FrameTable frames(budget);
  const FrameId plain = frames.intern(frame(1));
  const FxNode add{StringId{5}, StringId{6}, {}, {}}, mul{StringId{5}, StringId{7}, {}, {}};
  const FrameId with_add = frames.intern(frame(1), add), with_mul = frames.intern(frame(1), mul);
  EXPECT_NE(with_add, plain);
  EXPECT_NE(with_add, with_mul);
  EXPECT_EQ(frames.intern(frame(1), add), with_add);
  EXPECT_EQ(frames.intern(frame(1)), plain);
  EXPECT_EQ(frames.fx_of(frames[with_mul]), mul);
  EXPECT_EQ(frames[plain].fx, -1);
}

TEST(StackTable, TheEmptyListIsAStackOfItsOwn) {
  Budget budget(1 << 20);
  StackTable stacks(budget);
  const StackId empty = stacks.intern({});
  EXPECT_FALSE(empty.is_none());
  EXPECT_EQ(stacks.leaf(empty), -1);
  EXPECT_EQ(stacks.intern({}), empty);
  EXPECT_TRUE(stacks.frames_of(empty).empty());
  EXPECT_EQ(stacks.node_count(), 0u);
}

TEST(StackTable, StacksWithTheSameCallersShareNodes) {
  Budget budget(1 << 20);
  StackTable stacks(budget);
  const FrameId main{0}, train{1}, forward{2}, backward{3};
  const std::vector<FrameId> a{forward, train, main}, b{backward, train, main}, c{train, main};
  const StackId first = stacks.intern(a), second = stacks.intern(b), third = stacks.intern(c);
  EXPECT_EQ(stacks.node_count(), 4u);  // main, train, forward, backward
  EXPECT_EQ(stacks.size(), 3u);
  EXPECT_EQ(stacks.frames_of(first), a);
  EXPECT_EQ(stacks.frames_of(second), b);
  EXPECT_EQ(stacks.frames_of(third), c);
  EXPECT_EQ(stacks.node(stacks.leaf(first)).caller, stacks.leaf(third));
}

TEST(StackTable, APrefixIsNotTheSameStack) {
  Budget budget(1 << 20);
  StackTable stacks(budget);
  const std::vector<FrameId> longer{FrameId{2}, FrameId{1}}, inner{FrameId{2}};
  EXPECT_NE(stacks.intern(longer), stacks.intern(inner));
}

TEST(StackTable, CallersAlwaysHaveLowerNumbers) {
  Budget budget(1 << 24);
  StackTable stacks(budget);
  std::mt19937 random(1);
  std::vector<std::vector<FrameId>> lists;
  std::vector<StackId> ids;
  for (int i = 0; i < 3000; ++i) {
    std::vector<FrameId> list(random() % 12);
    for (FrameId& id : list) id = FrameId{static_cast<int32_t>(random() % 5)};
    ids.push_back(stacks.intern(list));
    lists.push_back(std::move(list));
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    ASSERT_EQ(stacks.frames_of(ids[i]), lists[i]);
    ASSERT_EQ(stacks.intern(lists[i]), ids[i]);
  }
  for (size_t i = 0; i < stacks.node_count(); ++i) {
    EXPECT_LT(stacks.node(static_cast<int32_t>(i)).caller, static_cast<int32_t>(i));
  }
}

TEST(StackTable, ACopyHasTheSameIdsAndGoesOn) {
  Budget budget(int64_t{64} << 20);
  StackTable stacks(budget), copy(budget);
  std::mt19937 random(3);
  std::vector<std::vector<FrameId>> lists;
  for (int i = 0; i < 3000; ++i) {
    std::vector<FrameId> list;
    for (auto depth = random() % 20; depth > 0; --depth)
      list.push_back(FrameId{static_cast<int32_t>(random() % 50)});
    lists.push_back(list);
    (void)stacks.intern(list);
  }
  ASSERT_TRUE(copy.copy_from(stacks));
  for (const auto& list : lists) EXPECT_EQ(copy.intern(list), stacks.intern(list));
  EXPECT_EQ(copy.size(), stacks.size());
  const FrameId more[] = {FrameId{1}, FrameId{77}, FrameId{3}};
  EXPECT_EQ(copy.intern(more), stacks.intern(more));
  EXPECT_EQ(copy.node_count(), stacks.node_count());
  EXPECT_EQ(copy.frames_of(copy.intern(more)), stacks.frames_of(stacks.intern(more)));
}

TEST(StackTable, IsNoneWhenTheBudgetIsUsedUpAndKeepsWhatItHad) {
  Budget budget(20'000);
  StackTable stacks(budget);
  const std::vector<FrameId> small{FrameId{1}};
  const StackId kept = stacks.intern(small);
  ASSERT_FALSE(kept.is_none());
  std::vector<FrameId> huge;
  for (int32_t i = 0; i < 100'000; ++i) huge.push_back(FrameId{i});
  EXPECT_TRUE(stacks.intern(huge).is_none());
  EXPECT_EQ(stacks.frames_of(kept), small);
  EXPECT_GT(budget.needed(), 20'000);
}

}  // namespace
}  // namespace gpustrata::trace
