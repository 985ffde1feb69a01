// Which of two free blocks of one size serves a request: worked out by hand from what is known of each version.
#include <gtest/gtest.h>

#include <array>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"

namespace gpustrata::alloc {
namespace {

// As many devices give them: every segment lies below the one before.
class Descending final : public AddressSource {
 public:
  [[nodiscard]] uint64_t next(int64_t, bool) override { return at_ -= uint64_t{1} << 32; }

 private:
  uint64_t at_ = SimulatedDevice::kFirstAddress + (uint64_t{1} << 40);
};

struct Allocated {
  explicit Allocated(FreeOrder order) {
    device.take_addresses_from(addresses);
    EXPECT_TRUE(allocator.set_free_order(order).has_value());
  }
  uint64_t malloc(int64_t mib) { return allocator.malloc(mib << 20, 0).value(); }
  void free(uint64_t address) { EXPECT_TRUE(allocator.free(address).has_value()); }

  Descending addresses;
  SimulatedDevice device{int64_t{1} << 30};
  Budget budget{int64_t{1} << 26};
  DeviceAllocator allocator{device, 0, {}, nullptr, budget};
};

TEST(FreeOrder, OfTwoSegmentsTheLowerOrTheOlderOneIsTaken) {
  for (const FreeOrder order : kAllFreeOrders) {
    Allocated run(order);
    const uint64_t first = run.malloc(20), second = run.malloc(20);
    ASSERT_LT(second, first);
    run.free(second);
    run.free(first);
    EXPECT_EQ(run.malloc(20), order == FreeOrder::address ? second : first) << name_of(order);
  }
}

TEST(FreeOrder, ASplitMakesTheFrontPartAnewIn212) {
  for (const FreeOrder order : kAllFreeOrders) {
    Allocated run(order);
    const uint64_t a = run.malloc(4), b = run.malloc(2);
    run.malloc(2);  // keeps b from merging
    run.free(a);
    ASSERT_EQ(run.malloc(2), a);  // the front of a's block, made after b; its rest is as old as a
    run.malloc(2);
    run.free(a);
    run.free(b);
    EXPECT_EQ(run.malloc(2), order == FreeOrder::block_number ? b : a) << name_of(order);
  }
}

TEST(FreeOrder, AMergedBlockIsAsOldAsTheOneThatWasFreedLast) {
  for (const FreeOrder order : kAllFreeOrders) {
    Allocated run(order);
    // Pairs of 2 MiB between blocks that stay; of the first pair the older one is freed last, of the second the newer.
    const uint64_t a = run.malloc(2), b = run.malloc(2);
    run.malloc(2);
    const uint64_t c = run.malloc(2), d = run.malloc(2);
    run.malloc(2);
    run.free(a);
    run.free(b);  // merged: as old as b, the second
    run.free(d);
    run.free(c);  // merged: as old as c, the fourth
    EXPECT_EQ(run.malloc(4), a) << name_of(order);
    run.malloc(4);
  }
  Allocated run(FreeOrder::block_number);
  const uint64_t a = run.malloc(4), b = run.malloc(4);  // the second and the third that are made
  run.malloc(2);
  run.free(a);
  const uint64_t front = run.malloc(2);  // the fifth; behind it the rest, still the second
  ASSERT_EQ(front, a);
  run.free(front);  // merged with the rest: the fifth again
  run.free(b);      // merged with it: the third
  EXPECT_EQ(run.malloc(8), a);
}

TEST(FreeOrder, OfWhatWasThereTheNumbersCanBeTold) {
  constexpr std::array<uint32_t, 2> kSecondIsOlder = {1, 0};
  for (const FreeOrder order : kAllFreeOrders) {
    for (const bool told : {false, true}) {
      Allocated run(order);
      if (told) run.allocator.set_adopted_numbers(kSecondIsOlder);
      SegmentInfo segment;
      segment.size = int64_t{20} << 20;
      constexpr uint64_t kLow = uint64_t{1} << 40, kHigh = uint64_t{1} << 41;
      for (const uint64_t address : {kLow, kHigh}) {
        segment.address = address;
        ASSERT_TRUE(run.device.occupy(address, segment.size, segment.size));
        ASSERT_TRUE(run.allocator.adopt(segment, 0, {}, {}).has_value());
      }
      EXPECT_EQ(run.allocator.adopted_count(), order == FreeOrder::address ? 0U : 2U);
      const uint64_t younger = run.malloc(22);  // of the device; then two of 20 MiB are older
      (void)younger;
      EXPECT_EQ(run.malloc(20), told && order != FreeOrder::address ? kHigh : kLow) << name_of(order);
    }
  }
}

TEST(FreeOrder, IsChosenBeforeTheFirstRequest) {
  Allocated run(FreeOrder::segment_age);
  run.malloc(1);
  EXPECT_FALSE(run.allocator.set_free_order(FreeOrder::address).has_value());
  EXPECT_EQ(run.allocator.config().free_order, FreeOrder::segment_age);
}

TEST(FreeOrder, HasNames) {
  for (const FreeOrder order : kAllFreeOrders) EXPECT_EQ(free_order_of(name_of(order)), order);
  EXPECT_FALSE(free_order_of("size").has_value());
}

}  // namespace
}  // namespace gpustrata::alloc
