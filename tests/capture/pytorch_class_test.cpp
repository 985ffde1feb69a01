// What an allocator class of PyTorch's asks of the C API: pools, checkpoints, captures, what is cached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "capture/gpustrata.h"

namespace {

using testing::ElementsAre;

constexpr size_t kMiB = size_t{1} << 20;
constexpr gpustrata_pool kPool{0, 1};

[[nodiscard]] void* take(size_t bytes) {
  void* pointer = nullptr;
  EXPECT_EQ(gpustrata_malloc(&pointer, bytes, 0, nullptr), GPUSTRATA_OK) << gpustrata_last_error();
  return pointer;
}
[[nodiscard]] std::vector<void*> in_pool() {
  size_t count = 0;
  EXPECT_EQ(gpustrata_pool_allocations(0, kPool, nullptr, 0, &count), GPUSTRATA_OK) << gpustrata_last_error();
  std::vector<void*> live(count);
  EXPECT_EQ(gpustrata_pool_allocations(0, kPool, live.data(), live.size(), &count), GPUSTRATA_OK);
  return live;
}

TEST(PytorchClass, APoolHasUsersAndIsCheckpointed) {
  EXPECT_EQ(gpustrata_pool_users(0, kPool), 0);
  size_t count = 7;
  EXPECT_EQ(gpustrata_pool_allocations(0, kPool, nullptr, 0, &count), GPUSTRATA_WRONG_USAGE);
  ASSERT_EQ(gpustrata_pool_retain(0, kPool), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_begin(0, kPool), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_pool_users(0, kPool), 2);
  void* const a = take(5 * kMiB);
  gpustrata_checkpoint* then = nullptr;
  ASSERT_EQ(gpustrata_pool_checkpoint(0, kPool, &then), GPUSTRATA_OK) << gpustrata_last_error();
  EXPECT_EQ(gpustrata_checkpoint_pool(then).user_id, 1U);
  void* const b = take(2 * kMiB);
  EXPECT_THAT(in_pool(), ElementsAre(a, b));
  EXPECT_EQ(gpustrata_block_size(b), 2 * kMiB);
  EXPECT_EQ(gpustrata_release(a), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_end(0, kPool), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_restore(0, then), GPUSTRATA_OK) << gpustrata_last_error();
  EXPECT_THAT(in_pool(), ElementsAre(a));
  EXPECT_EQ(gpustrata_block_size(b), 0U);
  gpustrata_free_checkpoint(then);
  EXPECT_EQ(gpustrata_release(a), GPUSTRATA_OK);
  // Without users its 20 MiB go back when it is emptied.
  int64_t reserved = 0;
  ASSERT_EQ(gpustrata_pool_release(0, kPool), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_release(0, kPool), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_pool_empty(0, kPool), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_memory_usage(0, nullptr, &reserved), GPUSTRATA_OK);
  EXPECT_EQ(reserved, 0);
}

TEST(PytorchClass, WhatIsCachedAndUsed) {
  void* const a = take(30 * kMiB);
  int64_t allocated = 0;
  ASSERT_EQ(gpustrata_memory_usage(0, &allocated, nullptr), GPUSTRATA_OK);
  EXPECT_EQ(allocated, 30 * static_cast<int64_t>(kMiB));
  EXPECT_EQ(gpustrata_release(a), GPUSTRATA_OK);
  size_t largest = 0;
  ASSERT_EQ(gpustrata_largest_cached_block(0, &largest), GPUSTRATA_OK);
  EXPECT_EQ(largest, 30 * kMiB);
  EXPECT_EQ(gpustrata_is_recording(), 0);
  ASSERT_EQ(gpustrata_record_memory_history(nullptr), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_is_recording(), 1);
}

TEST(PytorchClass, CapturesAreCounted) {
  ASSERT_EQ(gpustrata_put_off_by_captures_only(0, nullptr), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_capture_end(0), GPUSTRATA_WRONG_USAGE);
  ASSERT_EQ(gpustrata_capture_begin(0), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_capture_end(0), GPUSTRATA_OK);
}

int g_captured = 0;  // what the next test answers
int captured_of_test(int device) { return device == 0 ? g_captured : 0; }

// A block of 3 MiB that stream 0x10 uses, too, is free again with the next request if nothing puts that off: the driver's
// streams are idle.
TEST(PytorchClass, ACapturePutsOffWhatIsCapturedOnly) {
  ASSERT_EQ(gpustrata_put_off_by_captures_only(0, captured_of_test), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_capture_begin(0), GPUSTRATA_OK);
  for (const bool captured : {false, true}) {
    g_captured = 0;
    void* const a = take(3 * kMiB);
    g_captured = captured ? 1 : 0;
    gpustrata_hook_record_stream(a, reinterpret_cast<void*>(0x10));
    ASSERT_EQ(gpustrata_release(a), GPUSTRATA_OK);
    EXPECT_EQ(take(3 * kMiB) == a, !captured);
  }
  EXPECT_EQ(gpustrata_capture_end(0), GPUSTRATA_OK);
  g_captured = 0;
}

TEST(PytorchClass, MissingPlacesAreRefused) {
  EXPECT_EQ(gpustrata_pool_checkpoint(0, kPool, nullptr), GPUSTRATA_WRONG_USAGE);
  EXPECT_EQ(gpustrata_pool_restore(0, nullptr), GPUSTRATA_WRONG_USAGE);
  EXPECT_EQ(gpustrata_largest_cached_block(0, nullptr), GPUSTRATA_WRONG_USAGE);
  EXPECT_EQ(gpustrata_pool_allocations(0, kPool, nullptr, 0, nullptr), GPUSTRATA_WRONG_USAGE);
  EXPECT_LT(gpustrata_pool_users(99, kPool), 0);
  gpustrata_free_checkpoint(nullptr);
}

}  // namespace
