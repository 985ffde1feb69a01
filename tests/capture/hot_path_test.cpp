// malloc and free from the cache take no memory of the process: every call of malloc is counted here.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "capture/gpustrata.h"
#include "tests/capture/own_malloc.h"

namespace {

thread_local bool t_counting = false;
thread_local int64_t t_taken = 0;

[[maybe_unused]] void count() {
  if (t_counting) ++t_taken;
}

}  // namespace

#if GPUSTRATA_COUNTS_MALLOC
// glibc's own, under the names that a program may define itself. operator new comes here too.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
// NOLINTEND(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)

void* malloc(size_t bytes) noexcept {
  count();
  return __libc_malloc(bytes);
}
void* calloc(size_t number, size_t bytes) noexcept {
  count();
  return __libc_calloc(number, bytes);
}
void* realloc(void* memory, size_t bytes) noexcept {
  count();
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  count();
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

namespace {

void* stream(uintptr_t number) { return reinterpret_cast<void*>(number); }

// 1,000 requests that the cache can serve, of several sizes and streams, at most 8 at a time; always from the
// same place, so with the same two stacks.
[[gnu::noinline]] void work() {
  std::array<void*, 8> held{};
  for (size_t i = 0; i < 1000 + held.size(); ++i) {
    void*& place = held[i % held.size()];
    if (place != nullptr) gpustrata_free(place, 0, 0, nullptr);
    place = i < 1000 ? gpustrata_alloc(size_t{1000} << i % 12, 0, stream(i % 3 * 0x100)) : nullptr;
  }
}

// How often work() takes memory once everything was seen twice. One call in a loop that is not unrolled:
// other places in the code would be other stacks.
[[nodiscard]] int64_t taken_by_work() {
  for (int round = 0; round < 3; ++round) {
    t_taken = 0;
    t_counting = true;
    work();
    t_counting = false;
    asm volatile("" : "+r"(round));
  }
  return t_taken;
}

class HotPath : public testing::Test {
 protected:
  void SetUp() override {
    if (!GPUSTRATA_COUNTS_MALLOC) GTEST_SKIP() << "malloc is the sanitizer's";
    char* bytes = nullptr;
    size_t size = 0;
    t_counting = true;
    const gpustrata_status status = gpustrata_snapshot(&bytes, &size);  // takes memory in the library
    t_counting = false;
    ASSERT_EQ(status, GPUSTRATA_OK);
    gpustrata_free_bytes(bytes);
    ASSERT_GT(t_taken, 10) << "malloc is not counted";
  }
  void record(const char* context, int64_t entries) {
    gpustrata_history history;
    gpustrata_default_history(&history);
    history.context = context;
    history.max_entries = entries;
    ASSERT_EQ(gpustrata_record_memory_history(&history), GPUSTRATA_OK) << gpustrata_last_error();
  }
};

TEST_F(HotPath, TakesNoMemoryWithoutRecording) { EXPECT_EQ(taken_by_work(), 0); }

TEST_F(HotPath, TakesNoMemoryInExpandableSegments) {
  ASSERT_EQ(gpustrata_set_allocator_settings("expandable_segments:True"), GPUSTRATA_OK);
  EXPECT_EQ(taken_by_work(), 0);
}

TEST_F(HotPath, TakesNoMemoryWhileRecordingKnownStacks) {
  record("all", 2000);  // 3,000 events a work(): the ring is full
  EXPECT_EQ(taken_by_work(), 0);
}

// An unlimited history takes a chunk for each 4,096 events, and now and then a longer list of chunks.
TEST_F(HotPath, AnUnlimitedHistoryGrowsByChunks) {
  record("all", INT64_MAX);
  EXPECT_LE(taken_by_work(), 2);
}

}  // namespace
