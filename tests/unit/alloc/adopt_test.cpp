#include <gtest/gtest.h>

#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "tests/unit/alloc/invariants.h"
#include "tests/unit/numbers.h"

namespace gpustrata::alloc {
namespace {

struct Adopting {
  Budget budget{int64_t{1} << 24};
  SimulatedDevice device{100 * kMiB, budget};
  DeviceAllocator allocator{device, 0, Config{}, nullptr, budget};

  void expect_sound() const {
    EXPECT_EQ(check_invariants(allocator.state()), "");
    EXPECT_EQ(allocator.check_pools(), "");
  }
};

[[nodiscard]] SegmentInfo segment(int64_t size, bool expandable) {
  SegmentInfo info;
  info.address = kBase;
  info.size = size;
  info.expandable = expandable;
  return info;
}
[[nodiscard]] AdoptedBlock block(int64_t offset, int64_t size, int64_t requested) {
  AdoptedBlock adopted;
  adopted.address = kBase + static_cast<uint64_t>(offset);
  adopted.size = size;
  adopted.requested_size = requested;
  return adopted;
}
[[nodiscard]] AdoptedRange range(int64_t offset, int64_t size) {
  return {kBase + static_cast<uint64_t>(offset), size};
}

TEST(Adopt, ASegmentIsAsItWas) {
  Adopting adopting;
  const SegmentInfo info = segment(20 * kMiB, false);
  const std::vector<AdoptedBlock> blocks = {block(2 * kMiB, 2 * kMiB, 2'000'000),
                                            block(4 * kMiB, 4 * kMiB, 4 * kMiB)};
  ASSERT_TRUE(adopting.device.occupy(kBase, info.size, info.size));
  ASSERT_TRUE(adopting.allocator.adopt(info, 0, {}, blocks));
  adopting.expect_sound();
  const MemoryStats& stats = adopting.allocator.stats();
  EXPECT_EQ(stats.reserved_bytes.all().peak, 20 * kMiB);
  EXPECT_EQ(stats.allocated_bytes.all().current, 6 * kMiB);
  EXPECT_EQ(stats.allocated_bytes.all().peak, 6 * kMiB);
  EXPECT_EQ(stats.allocated_bytes.all().allocated, 0);  // nothing was asked for here
  EXPECT_EQ(stats.requested_bytes.all().current, 2'000'000 + 4 * kMiB);
  EXPECT_EQ(stats.num_device_alloc, 0);
  EXPECT_EQ(adopting.device.info().free_bytes, 80 * kMiB);
  // 2 MiB in front, 12 behind: the smaller hole is the better fit.
  EXPECT_EQ(*adopting.allocator.malloc(2 * kMiB, 0), kBase);
  EXPECT_EQ(*adopting.allocator.malloc(3 * kMiB, 0), kBase + 8 * kMiB);
  // New segments lie above.
  EXPECT_GE(*adopting.allocator.malloc(30 * kMiB, 0), kBase + 20 * kMiB);
  EXPECT_TRUE(adopting.allocator.free(kBase + 2 * kMiB));
  adopting.expect_sound();
}

TEST(Adopt, WhatFillsTheRoomInFrontIsNoPeak) {
  Adopting adopting;
  const SegmentInfo info = segment(20 * kMiB, false);
  ASSERT_TRUE(adopting.device.occupy(kBase, info.size, info.size));
  // The 10 MiB in front of it are handed out and given back on the way: 12 MiB in use at once.
  const std::vector<AdoptedBlock> blocks = {block(10 * kMiB, 2 * kMiB, 2 * kMiB)};
  ASSERT_TRUE(adopting.allocator.adopt(info, 0, {}, blocks));
  const MemoryStats& stats = adopting.allocator.stats();
  EXPECT_EQ(stats.allocated_bytes.all().peak, 2 * kMiB);
  EXPECT_EQ(stats.active_bytes.all().peak, 2 * kMiB);
}

TEST(Adopt, ReservationsHavePagesAndHoles) {
  Adopting adopting;
  const std::vector<AdoptedRange> mapped = {range(0, 20 * kMiB), range(40 * kMiB, 20 * kMiB)};
  for (const AdoptedRange& pages : mapped)
    ASSERT_TRUE(adopting.device.occupy(pages.address, pages.size, pages.size));
  const std::vector<AdoptedBlock> blocks = {block(45 * kMiB, 5 * kMiB, 5 * kMiB)};
  ASSERT_TRUE(adopting.allocator.adopt(segment(200 * kMiB, true), 20 * kMiB, mapped, blocks));
  adopting.expect_sound();
  EXPECT_EQ(adopting.allocator.device_bytes(), 40 * kMiB);
  // Pages that hold nothing are given back: the first 20 MiB.
  adopting.allocator.empty_cache();
  EXPECT_EQ(adopting.allocator.device_bytes(), 20 * kMiB);
  adopting.expect_sound();
}

TEST(Adopt, WhatCannotBeIsRefused) {
  const auto refused = [](const SegmentInfo& info, int64_t page, const std::vector<AdoptedRange>& mapped,
                          const std::vector<AdoptedBlock>& blocks) {
    Adopting adopting;
    const Status status = adopting.allocator.adopt(info, page, mapped, blocks);
    return !status && status.error().code == ErrorCode::wrong_usage;
  };
  const SegmentInfo plain = segment(20 * kMiB, false), pages = segment(20 * kMiB, true);
  EXPECT_TRUE(refused(plain, 0, {}, {block(19 * kMiB, 2 * kMiB, 1)}));              // behind the end
  EXPECT_TRUE(refused(plain, 0, {}, {block(0, 2 * kMiB, 1), block(512, 512, 1)}));  // they meet
  EXPECT_TRUE(refused(plain, 0, {}, {block(0, 0, 0)}));
  EXPECT_TRUE(refused(segment(0, false), 0, {}, {}));
  EXPECT_TRUE(refused(segment(kLargestRequest + 1, false), 0, {}, {}));
  EXPECT_TRUE(refused(pages, 20 * kMiB, {range(0, 2 * kMiB)}, {}));                        // half a page
  EXPECT_TRUE(refused(pages, 2 * kMiB, {range(0, 2 * kMiB)}, {block(4 * kMiB, 512, 1)}));  // not mapped
  EXPECT_TRUE(refused(pages, 0, {}, {}));
}

TEST(Adopt, TheDeviceKnowsWhereRangesLie) {
  struct Wanted final : AddressSource {
    uint64_t next(int64_t /*bytes*/, bool /*reservation*/) override { return address; }
    uint64_t address = 0;
  };
  Budget budget(1 << 20);
  SimulatedDevice device(100 * kMiB, budget);
  Wanted wanted;
  device.take_addresses_from(wanted);
  ASSERT_TRUE(device.occupy(kBase, 4 * kMiB, 4 * kMiB));
  EXPECT_FALSE(device.occupy(kBase + 2 * kMiB, 4 * kMiB, 4 * kMiB));
  wanted.address = kBase + 2 * kMiB;  // taken: it lies above instead
  EXPECT_EQ(*device.allocate(2 * kMiB), kBase + 4 * kMiB);
  wanted.address = kBase - 8 * kMiB;
  EXPECT_EQ(*device.allocate(2 * kMiB), kBase - 8 * kMiB);
  device.free(kBase - 8 * kMiB, 2 * kMiB);
  EXPECT_EQ(*device.allocate(4 * kMiB), kBase - 8 * kMiB);  // free again
  wanted.address = kBase + 512;                             // no start of a segment
  EXPECT_EQ(*device.allocate(2 * kMiB), kBase + 6 * kMiB);
}

}  // namespace
}  // namespace gpustrata::alloc
