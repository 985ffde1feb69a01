// What an allocator class of PyTorch's asks of the C API: pools, checkpoints, captures, what is cached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "capture/memstrata.h"

namespace {

using testing::ElementsAre;

constexpr size_t kMiB = size_t{1} << 20;
constexpr memstrata_pool kPool{0, 1};

[[nodiscard]] void* take(size_t bytes) {
  void* pointer = nullptr;
  EXPECT_EQ(memstrata_malloc(&pointer, bytes, 0, nullptr), MEMSTRATA_OK) << memstrata_last_error();
  return pointer;
}
[[nodiscard]] std::vector<void*> in_pool() {
  size_t count = 0;
  EXPECT_EQ(memstrata_pool_allocations(0, kPool, nullptr, 0, &count), MEMSTRATA_OK) << memstrata_last_error();
  std::vector<void*> live(count);
  EXPECT_EQ(memstrata_pool_allocations(0, kPool, live.data(), live.size(), &count), MEMSTRATA_OK);
  return live;
}

TEST(PytorchClass, APoolHasUsersAndIsCheckpointed) {
  EXPECT_EQ(memstrata_pool_users(0, kPool), 0);
  size_t count = 7;
  EXPECT_EQ(memstrata_pool_allocations(0, kPool, nullptr, 0, &count), MEMSTRATA_WRONG_USAGE);
  ASSERT_EQ(memstrata_pool_retain(0, kPool), MEMSTRATA_OK);
  ASSERT_EQ(memstrata_pool_begin(0, kPool), MEMSTRATA_OK);
  EXPECT_EQ(memstrata_pool_users(0, kPool), 2);
  void* const a = take(5 * kMiB);
  memstrata_checkpoint* then = nullptr;
  ASSERT_EQ(memstrata_pool_checkpoint(0, kPool, &then), MEMSTRATA_OK) << memstrata_last_error();
  EXPECT_EQ(memstrata_checkpoint_pool(then).user_id, 1U);
  void* const b = take(2 * kMiB);
  EXPECT_THAT(in_pool(), ElementsAre(a, b));
  EXPECT_EQ(memstrata_block_size(b), 2 * kMiB);
  EXPECT_EQ(memstrata_release(a), MEMSTRATA_OK);
  ASSERT_EQ(memstrata_pool_end(0, kPool), MEMSTRATA_OK);
  ASSERT_EQ(memstrata_pool_restore(0, then), MEMSTRATA_OK) << memstrata_last_error();
  EXPECT_THAT(in_pool(), ElementsAre(a));
  EXPECT_EQ(memstrata_block_size(b), 0U);
  memstrata_free_checkpoint(then);
  EXPECT_EQ(memstrata_release(a), MEMSTRATA_OK);
  // Without users its 20 MiB go back when it is emptied.
  int64_t reserved = 0;
  ASSERT_EQ(memstrata_pool_release(0, kPool), MEMSTRATA_OK);
  ASSERT_EQ(memstrata_pool_release(0, kPool), MEMSTRATA_OK);
  ASSERT_EQ(memstrata_pool_empty(0, kPool), MEMSTRATA_OK);
  ASSERT_EQ(memstrata_memory_usage(0, nullptr, &reserved), MEMSTRATA_OK);
  EXPECT_EQ(reserved, 0);
}

TEST(PytorchClass, WhatIsCachedAndUsed) {
  void* const a = take(30 * kMiB);
  int64_t allocated = 0;
  ASSERT_EQ(memstrata_memory_usage(0, &allocated, nullptr), MEMSTRATA_OK);
  EXPECT_EQ(allocated, 30 * static_cast<int64_t>(kMiB));
  EXPECT_EQ(memstrata_release(a), MEMSTRATA_OK);
  size_t largest = 0;
  ASSERT_EQ(memstrata_largest_cached_block(0, &largest), MEMSTRATA_OK);
  EXPECT_EQ(largest, 30 * kMiB);
  EXPECT_EQ(memstrata_is_recording(), 0);
  ASSERT_EQ(memstrata_record_memory_history(nullptr), MEMSTRATA_OK);
  EXPECT_EQ(memstrata_is_recording(), 1);
}

TEST(PytorchClass, CapturesAreCounted) {
  ASSERT_EQ(memstrata_put_off_by_captures_only(0), MEMSTRATA_OK);
  EXPECT_EQ(memstrata_capture_end(0), MEMSTRATA_WRONG_USAGE);
  ASSERT_EQ(memstrata_capture_begin(0), MEMSTRATA_OK);
  EXPECT_EQ(memstrata_capture_end(0), MEMSTRATA_OK);
}

TEST(PytorchClass, MissingPlacesAreRefused) {
  EXPECT_EQ(memstrata_pool_checkpoint(0, kPool, nullptr), MEMSTRATA_WRONG_USAGE);
  EXPECT_EQ(memstrata_pool_restore(0, nullptr), MEMSTRATA_WRONG_USAGE);
  EXPECT_EQ(memstrata_largest_cached_block(0, nullptr), MEMSTRATA_WRONG_USAGE);
  EXPECT_EQ(memstrata_pool_allocations(0, kPool, nullptr, 0, nullptr), MEMSTRATA_WRONG_USAGE);
  EXPECT_LT(memstrata_pool_users(99, kPool), 0);
  memstrata_free_checkpoint(nullptr);
}

}  // namespace
