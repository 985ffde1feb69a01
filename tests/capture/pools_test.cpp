// Private pools of the C API over the fake driver: whole blocks, helping out before "out of memory", the device allocation
// around a pointer. Cases C55 and C56 of PyTorch's allocator, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/gpustrata.h"
#include "tests/capture/fake_cuda/fake_cuda.h"

namespace {

using testing::HasSubstr;

constexpr size_t kPoolsMiB = size_t{1} << 20;
constexpr gpustrata_pool kHelper{0, 1}, kUnknown{0, 9};

class CapturedPools : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(fake_cuda_misuses(), 0); }

  [[nodiscard]] static char* allocated(size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(gpustrata_malloc(&pointer, bytes, 0, nullptr), GPUSTRATA_OK) << gpustrata_last_error();
    return static_cast<char*>(pointer);
  }
  [[nodiscard]] static char* allocated_in(gpustrata_pool pool, size_t bytes) {
    EXPECT_EQ(gpustrata_pool_begin(0, pool), GPUSTRATA_OK) << gpustrata_last_error();
    char* const pointer = allocated(bytes);
    EXPECT_EQ(gpustrata_pool_end(0, pool), GPUSTRATA_OK) << gpustrata_last_error();
    return pointer;
  }
  static void freed(void* pointer) {
    EXPECT_EQ(gpustrata_release(pointer), GPUSTRATA_OK) << gpustrata_last_error();
  }
  [[nodiscard]] static size_t reserved() {
    int64_t bytes = -1;
    EXPECT_EQ(gpustrata_memory_usage(0, nullptr, &bytes), GPUSTRATA_OK);
    return static_cast<size_t>(bytes);
  }
  // "reserved_bytes_by_private_pools.0_1.all.current" of kHelper; -1 = there is none.
  [[nodiscard]] static int64_t reserved_by_helper(const std::string& what) {
    std::string text(gpustrata_memory_stats(0, nullptr, 0) + 1, ' ');
    (void)gpustrata_memory_stats(0, text.data(), text.size());
    const std::string key = "\"reserved_bytes_by_private_pools.0_1." + what + "\":";
    const size_t at = text.find(key);
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + key.size()));
  }
  // Leaves 64 MiB of the device.
  static void make_the_device_small() {
    int64_t total = 0;
    ASSERT_EQ(gpustrata_memory_info(0, nullptr, &total), GPUSTRATA_OK);
    ASSERT_EQ(
        gpustrata_set_memory_fraction(static_cast<double>(64 * kPoolsMiB) / static_cast<double>(total), 0),
        GPUSTRATA_OK);
  }
  struct Base {
    gpustrata_status status;
    void* pointer = nullptr;
    size_t size = 0;
  };
  [[nodiscard]] static Base base_of(void* pointer) {
    Base base{};
    base.status = gpustrata_base_allocation(pointer, &base.pointer, &base.size);
    return base;
  }
};

// 512 bytes take a segment of 2 MiB of their own, and 5 MiB one of 20 MiB: nothing is cut off from either.
TEST_F(CapturedPools, APoolThatIsNotSplitHandsOutWholeSegments) {
  ASSERT_EQ(gpustrata_pool_begin(0, kHelper), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_no_split(0, kHelper), GPUSTRATA_OK) << gpustrata_last_error();
  char* const a = allocated(512);
  EXPECT_EQ(gpustrata_block_size(a), 2 * kPoolsMiB);
  EXPECT_EQ(reserved(), 2 * kPoolsMiB);
  EXPECT_EQ(gpustrata_block_size(allocated(5 * kPoolsMiB)), 20 * kPoolsMiB);
  EXPECT_EQ(reserved(), 22 * kPoolsMiB);
  (void)allocated(512);
  EXPECT_EQ(reserved(), 24 * kPoolsMiB);
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(24 * kPoolsMiB));
  // What is given back is handed out again, whole.
  freed(a);
  char* const again = allocated(1024);
  EXPECT_EQ(again, a);
  EXPECT_EQ(gpustrata_block_size(again), 2 * kPoolsMiB);
  EXPECT_EQ(reserved(), 24 * kPoolsMiB);
  EXPECT_EQ(gpustrata_pool_end(0, kHelper), GPUSTRATA_OK);
}

TEST_F(CapturedPools, OtherPoolsAreSplit) {
  char* const a = allocated_in(kHelper, 512);
  ASSERT_EQ(gpustrata_pool_retain(0, kUnknown), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_no_split(0, kUnknown), GPUSTRATA_OK);
  char* const b = allocated_in(kHelper, 512);
  EXPECT_EQ(gpustrata_block_size(a), 512U);
  EXPECT_EQ(b - a, 512);
  EXPECT_EQ(reserved(), 2 * kPoolsMiB);
}

// Of 64 MiB the pool holds 50, which nobody uses. 40 MiB more are not to be had from the device: the pool lends them.
TEST_F(CapturedPools, APoolHelpsOutBeforeOutOfMemoryIfItMay) {
  make_the_device_small();
  char* const a = allocated_in(kHelper, 50 * kPoolsMiB);
  freed(a);
  void* refused = a;
  EXPECT_EQ(gpustrata_malloc(&refused, 40 * kPoolsMiB, 0, nullptr), GPUSTRATA_OUT_OF_MEMORY);
  EXPECT_EQ(refused, nullptr);
  ASSERT_EQ(gpustrata_pool_use_on_oom(0, kHelper, 1), GPUSTRATA_OK) << gpustrata_last_error();
  char* const b = allocated(40 * kPoolsMiB);
  EXPECT_EQ(b, a);
  EXPECT_EQ(reserved(), 50 * kPoolsMiB);
  // It is the pool's, and goes back there.
  void* live[2] = {};
  size_t count = 0;
  ASSERT_EQ(gpustrata_pool_allocations(0, kHelper, live, 2, &count), GPUSTRATA_OK);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(live[0], b);
  freed(b);
  EXPECT_EQ(allocated(50 * kPoolsMiB), a);
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(50 * kPoolsMiB));
}

// As long as the device has memory the pool is not asked.
TEST_F(CapturedPools, APoolHelpsOutInNeedOnly) {
  char* const a = allocated_in(kHelper, 50 * kPoolsMiB);
  freed(a);
  ASSERT_EQ(gpustrata_pool_use_on_oom(0, kHelper, 1), GPUSTRATA_OK);
  EXPECT_NE(allocated(40 * kPoolsMiB), a);
  EXPECT_EQ(reserved(), 90 * kPoolsMiB);
}

TEST_F(CapturedPools, APoolHelpsOutUntilItMayNotAnyMore) {
  make_the_device_small();
  char* const a = allocated_in(kHelper, 50 * kPoolsMiB);
  freed(a);
  ASSERT_EQ(gpustrata_pool_use_on_oom(0, kHelper, 1), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_use_on_oom(0, kHelper, 0), GPUSTRATA_OK);
  void* refused = a;
  EXPECT_EQ(gpustrata_malloc(&refused, 40 * kPoolsMiB, 0, nullptr), GPUSTRATA_OUT_OF_MEMORY);
  EXPECT_EQ(refused, nullptr);
}

// 3 MiB take a segment of 20, 300 bytes one of 2. The same as PyTorch 2.15.0 says of these steps.
TEST_F(CapturedPools, ReservedBytesAreSaidPoolByPool) {
  constexpr auto kReserved = static_cast<int64_t>(22 * kPoolsMiB);
  ASSERT_EQ(gpustrata_pool_retain(0, kHelper), GPUSTRATA_OK);
  EXPECT_EQ(reserved_by_helper("all.current"), -1);  // it had no memory yet
  char* const a = allocated_in(kHelper, 3 * kPoolsMiB);
  char* const b = allocated_in(kHelper, 300);
  (void)allocated(3 * kPoolsMiB);  // of the default pool
  EXPECT_EQ(reserved_by_helper("all.current"), kReserved);
  EXPECT_EQ(reserved_by_helper("large_pool.current"), static_cast<int64_t>(20 * kPoolsMiB));
  EXPECT_EQ(reserved_by_helper("small_pool.peak"), static_cast<int64_t>(2 * kPoolsMiB));
  EXPECT_EQ(reserved_by_helper("all.allocated"), kReserved);
  ASSERT_EQ(gpustrata_reset_accumulated_memory_stats(0), GPUSTRATA_OK);
  EXPECT_EQ(reserved_by_helper("all.allocated"), 0);
  freed(a);
  freed(b);
  for (int users = gpustrata_pool_users(0, kHelper); users > 0; --users)
    ASSERT_EQ(gpustrata_pool_release(0, kHelper), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_empty(0, kHelper), GPUSTRATA_OK);
  // The pool is gone; what it had is told still.
  EXPECT_EQ(reserved_by_helper("all.current"), 0);
  EXPECT_EQ(reserved_by_helper("all.freed"), kReserved);
  EXPECT_EQ(reserved_by_helper("all.peak"), kReserved);
  ASSERT_EQ(gpustrata_reset_peak_memory_stats(0), GPUSTRATA_OK);
  EXPECT_EQ(reserved_by_helper("all.peak"), 0);
}

TEST_F(CapturedPools, PoolsThatAreNotThereAreRefused) {
  EXPECT_EQ(gpustrata_pool_use_on_oom(0, kUnknown, 1), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("there is no pool (0, 9)"));
  EXPECT_EQ(gpustrata_pool_no_split(0, kUnknown), GPUSTRATA_WRONG_USAGE);
  EXPECT_EQ(gpustrata_pool_no_split(0, {0, 0}), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("(0, 0) is the default pool"));
  ASSERT_EQ(gpustrata_pool_retain(0, kUnknown), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_release(0, kUnknown), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_pool_use_on_oom(0, kUnknown, 1), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("pool (0, 9) was released"));
  EXPECT_EQ(gpustrata_pool_use_on_oom(99, kHelper, 1), GPUSTRATA_WRONG_USAGE);
}

// 1 MiB and then 512 bytes: the one in a segment of 2 MiB, the other behind it. 30 MiB have a segment of their own.
TEST_F(CapturedPools, TheBaseOfAnAllocationIsItsWholeSegment) {
  char* const first = allocated(kPoolsMiB);
  char* const second = allocated(512);
  char* const large = allocated(30 * kPoolsMiB);
  ASSERT_EQ(second - first, static_cast<ptrdiff_t>(kPoolsMiB));
  for (char* inside : {first, first + kPoolsMiB - 1, second, second + 511}) {
    const Base base = base_of(inside);
    EXPECT_EQ(base.status, GPUSTRATA_OK) << gpustrata_last_error();
    EXPECT_EQ(base.pointer, first);
    EXPECT_EQ(base.size, 2 * kPoolsMiB);
  }
  EXPECT_EQ(base_of(large + 1).pointer, large);
  EXPECT_EQ(base_of(large + 1).size, 30 * kPoolsMiB);
  EXPECT_EQ(gpustrata_base_allocation(second, nullptr, nullptr), GPUSTRATA_OK);
}

TEST_F(CapturedPools, WhatIsFreeOrForeignHasNoBase) {
  char* const first = allocated(kPoolsMiB);
  char* const second = allocated(512);
  EXPECT_EQ(base_of(second + 512).status, GPUSTRATA_WRONG_USAGE);  // of the segment, of no allocation
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("no allocation holds the address"));
  freed(first);
  EXPECT_EQ(base_of(first).status, GPUSTRATA_WRONG_USAGE);
  EXPECT_EQ(base_of(second).pointer, first);
  int foreign = 0;
  EXPECT_EQ(base_of(&foreign).status, GPUSTRATA_WRONG_USAGE);
  EXPECT_EQ(base_of(nullptr).status, GPUSTRATA_WRONG_USAGE);
}

TEST_F(CapturedPools, ExpandableSegmentsHaveNoBase) {
  ASSERT_EQ(gpustrata_set_allocator_settings("expandable_segments:True"), GPUSTRATA_OK);
  EXPECT_EQ(base_of(allocated(kPoolsMiB)).status, GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(),
              HasSubstr("lies in an expandable segment, which has no base allocation"));
}

}  // namespace
