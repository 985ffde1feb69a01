#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "engine/trace/recorder_ring.h"

namespace gpustrata::trace {
namespace {

using testing::ElementsAre;
using Ring = RecorderRing<int64_t>;

std::vector<int64_t> all(const Ring& ring) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < ring.size(); ++i) values.push_back(ring[i]);
  return values;
}

class RecorderRingTest : public testing::Test {
 protected:
  Budget budget{int64_t{64} << 20};
  Ring ring{budget};
};

TEST_F(RecorderRingTest, KeepsTheNewestInOrder) {
  ring.set_capacity(3);
  for (int64_t i = 1; i <= 5; ++i) ring.push(i);
  EXPECT_THAT(all(ring), ElementsAre(3, 4, 5));
  EXPECT_EQ(ring.lost(), 2);
}

TEST_F(RecorderRingTest, ACapacityOfOneIsTheLeast) {
  ring.set_capacity(0);
  EXPECT_EQ(ring.capacity(), 1);
  ring.push(1);
  ring.push(2);
  EXPECT_THAT(all(ring), ElementsAre(2));
}

TEST_F(RecorderRingTest, UnlimitedGrowsByChunks) {
  const int64_t count = 3 * Ring::kChunk + 1;
  for (int64_t i = 0; i < count; ++i) ring.push(i);
  EXPECT_EQ(ring.size(), count);
  EXPECT_EQ(ring[0], 0);
  EXPECT_EQ(ring[count - 1], count - 1);
  EXPECT_EQ(ring.lost(), 0);
  EXPECT_EQ(budget.used(), 4 * Ring::kChunk * 8);
}

TEST_F(RecorderRingTest, PreparedInTimePushTakesNoMemory) {
  ring.push(0);
  for (int64_t i = 1; i < 5 * Ring::kChunk; ++i) {
    ring.prepare();
    const int64_t before = budget.used();
    ring.push(i);
    ASSERT_EQ(budget.used(), before) << i;
  }
  EXPECT_EQ(ring.size(), 5 * Ring::kChunk);
  EXPECT_EQ(budget.used(), 6 * Ring::kChunk * 8);  // one ahead, not more
}

TEST_F(RecorderRingTest, WithoutMemoryTheOldestGo) {
  Budget tight(2 * Ring::kChunk * 8 + 100);
  {
    Ring small(tight);
    const int64_t count = 2 * Ring::kChunk + 10;
    for (int64_t i = 0; i < count; ++i) small.push(i);
    EXPECT_EQ(small.size(), 2 * Ring::kChunk);
    EXPECT_EQ(small.lost(), 10);
    EXPECT_EQ(small[0], 10);
    EXPECT_EQ(small[small.size() - 1], count - 1);
  }
  EXPECT_EQ(tight.used(), 0);
}

TEST_F(RecorderRingTest, WithoutAnyMemoryEverythingIsCountedAsLost) {
  Budget none(10);
  Ring small(none);
  small.push(1);
  small.push(2);
  EXPECT_EQ(small.size(), 0);
  EXPECT_EQ(small.lost(), 2);
}

TEST_F(RecorderRingTest, ClearForgetsAndGivesBack) {
  for (int64_t i = 0; i < 10'000; ++i) ring.push(i);
  ring.clear();
  EXPECT_EQ(ring.size(), 0);
  EXPECT_EQ(budget.used(), 0);
  ring.push(7);
  EXPECT_THAT(all(ring), ElementsAre(7));
}

TEST_F(RecorderRingTest, RandomUseAgreesWithADeque) {
  std::mt19937 random(1);
  for (int round = 0; round < 6; ++round) {
    Ring tested(budget);
    std::deque<int64_t> twin;
    int64_t capacity = Ring::kUnlimited, lost = 0, next = 0;
    for (int step = 0; step < 60; ++step) {
      switch (random() % 6) {
        case 0:
          capacity = random() % 3 == 0 ? Ring::kUnlimited : static_cast<int64_t>(1 + random() % 13'000);
          tested.set_capacity(capacity);
          break;
        case 1:
          tested.prepare();
          break;
        case 2:
          if (random() % 8 == 0) {
            tested.clear();
            twin.clear();
            lost = 0;
          }
          break;
        default:
          for (auto count = random() % 6000; count > 0; --count) {
            tested.push(next);
            twin.push_back(next++);
            if (random() % 64 == 0) tested.prepare();
          }
      }
      for (; static_cast<int64_t>(twin.size()) > capacity; ++lost) twin.pop_front();
      ASSERT_EQ(tested.size(), static_cast<int64_t>(twin.size()));
      ASSERT_EQ(tested.lost(), lost);
      for (size_t i = 0; i < twin.size(); ++i) ASSERT_EQ(tested[static_cast<int64_t>(i)], twin[i]);
    }
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace gpustrata::trace
