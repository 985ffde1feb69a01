#include "engine/alloc/cross_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "tests/unit/processor_limit.h"

namespace gpustrata::alloc {
namespace {

using Verdict = CrossStream::Verdict;

TEST(CrossStream, KeepsTheOrderOfManyUsesAndDropsThoseOfCaptures) {
  Budget budget(1 << 20);
  {
    CrossStream cross(budget);
    std::vector<int64_t> all, outside;
    for (int64_t i = 0; i < 100; ++i) {
      const int64_t stream = 1000 - 7 * i;
      ASSERT_TRUE(cross.add_use(BlockId(3), stream, i % 3 == 0));
      ASSERT_TRUE(cross.add_use(BlockId(3), stream, true));  // known: nothing changes
      all.push_back(stream);
      if (i % 3 != 0) outside.push_back(stream);
    }
    EXPECT_EQ(cross.streams_of(BlockId(3)), all);
    EXPECT_FALSE(cross.has_uses(BlockId(2)));
    cross.drop_capture_uses(BlockId(3));
    EXPECT_EQ(cross.streams_of(BlockId(3)), outside);
    // Used outside of a capture by now: it stays the next time.
    ASSERT_TRUE(cross.add_use(BlockId(3), 5, true));
    ASSERT_TRUE(cross.add_use(BlockId(3), 5, false));
    cross.drop_capture_uses(BlockId(3));
    outside.push_back(5);
    EXPECT_EQ(cross.streams_of(BlockId(3)), outside);
    cross.drop_uses(BlockId(3));
    EXPECT_FALSE(cross.has_uses(BlockId(3)));
    ASSERT_TRUE(cross.add_use(BlockId(3), 9, false));
    EXPECT_EQ(cross.streams_of(BlockId(3)), std::vector<int64_t>{9});
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(CrossStream, MarksGoByStreamThenByOrder) {
  Budget budget(1 << 20);
  {
    CrossStream cross(budget);
    for (const int block : {0, 1}) {
      for (const int64_t stream : {7, 2}) ASSERT_TRUE(cross.add_use(BlockId(block), stream, false));
      cross.drop_uses(BlockId(block));
      for (const int64_t stream : {7, 2}) {
        ASSERT_TRUE(cross.add_mark(stream, {10 * block + stream, BlockId(block)}));
      }
    }
    std::vector<EventHandle> seen, last;
    const auto taken = [&](const CrossStream::Mark& mark, bool is_last) {
      seen.push_back(mark.event);
      if (is_last) last.push_back(mark.event);
    };
    // Of stream 2 the first is kept, the second taken; stream 7 is left at its first.
    cross.take_marks(
        [](const CrossStream::Mark& mark) {
          return mark.event == 12 ? Verdict::take : mark.event == 2 ? Verdict::keep : Verdict::leave_stream;
        },
        taken);
    EXPECT_EQ(seen, std::vector<EventHandle>{12});
    EXPECT_EQ(cross.outstanding(), 3);
    EXPECT_EQ(cross.count_marks(), 3);
    ASSERT_TRUE(cross.add_mark(2, {20, BlockId(1)}));  // behind the one that was kept
    cross.take_marks([](const CrossStream::Mark&) { return Verdict::take; }, taken);
    EXPECT_EQ(seen, (std::vector<EventHandle>{12, 2, 20, 7, 17}));
    EXPECT_EQ(last, (std::vector<EventHandle>{7, 17}));
    EXPECT_FALSE(cross.has_marks(BlockId(0)));
    EXPECT_EQ(cross.outstanding(), 0);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(CrossStream, ARefusedUseIsSaidAndChangesNothing) {
  Budget budget(4096);
  CrossStream cross(budget);
  int64_t uses = 0;
  while (cross.add_use(BlockId(0), uses, false)) ++uses;
  EXPECT_GT(uses, 8);
  EXPECT_EQ(static_cast<int64_t>(cross.streams_of(BlockId(0)).size()), uses);
  cross.drop_uses(BlockId(0));
  EXPECT_TRUE(cross.add_use(BlockId(0), 1, false));
}

// Looked through one by one, 300,000 streams of one block are 4.5 * 10^10 steps to record, and as many to
// find the queues of the marks; the mallocs afterwards ask all of them.
TEST(CrossStream, ManyStreamsCostTheirNumber) {
  constexpr int64_t kStreams = 300'000;
  Budget budget(int64_t{1} << 28);
  SimulatedDevice device(int64_t{1} << 30, budget);
  DeviceAllocator allocator(device, 0, {}, nullptr, budget);
  const auto shared = allocator.malloc(512, 0);
  ASSERT_TRUE(shared);
  const tests::ProcessorLimit limit;
  for (int64_t stream = kStreams; stream > 0; --stream) ASSERT_TRUE(allocator.record_stream(*shared, stream));
  ASSERT_TRUE(allocator.free(*shared));
  EXPECT_EQ(device.outstanding_events(), kStreams);
  for (int64_t i = 0; i < kStreams; ++i) {
    const auto other = allocator.malloc(512, 0);
    ASSERT_TRUE(other);
    ASSERT_NE(*other, *shared);
    ASSERT_TRUE(allocator.free(*other));
  }
  for (int64_t stream = 1; stream <= kStreams; ++stream) device.finish(stream);
  const auto again = allocator.malloc(512, 0);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *shared);
  EXPECT_EQ(device.outstanding_events(), 0);
}

}  // namespace
}  // namespace gpustrata::alloc
