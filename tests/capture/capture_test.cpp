// The C API over the fake driver, one process per test.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/cuda/driver_abi.h"
#include "capture/gpustrata.h"
#include "capture/gpustrata.hpp"
#include "tests/capture/fake_cuda/fake_cuda.h"
#include "tests/capture/own_malloc.h"

extern "C" {  // of the fake driver, as a host program calls them
gpustrata::capture::cuda::CuResult cuDevicePrimaryCtxRetain(gpustrata::capture::cuda::CuContext*, int);
gpustrata::capture::cuda::CuResult cuCtxPushCurrent_v2(gpustrata::capture::cuda::CuContext);
gpustrata::capture::cuda::CuResult cuCtxGetCurrent(gpustrata::capture::cuda::CuContext*);
gpustrata::capture::cuda::CuResult cuCtxPopCurrent_v2(gpustrata::capture::cuda::CuContext*);
gpustrata::capture::cuda::CuResult cuStreamCreate(gpustrata::capture::cuda::CuStream*, unsigned);
}

namespace {

using gpustrata::capture::cuda::CuContext;
using gpustrata::capture::cuda::CuStream;
using gpustrata::capture::cuda::kSuccess;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kMiB = size_t{1} << 20;

[[nodiscard]] void* stream(uintptr_t number) { return reinterpret_cast<void*>(number); }

[[nodiscard]] void* take(size_t bytes, int device = 0, void* on = nullptr) {
  void* pointer = nullptr;
  EXPECT_EQ(gpustrata_malloc(&pointer, bytes, device, on), GPUSTRATA_OK) << gpustrata_last_error();
  return pointer;
}
void give_back(void* pointer) {
  EXPECT_EQ(gpustrata_release(pointer), GPUSTRATA_OK) << gpustrata_last_error();
}

// "allocated_bytes.all.current" and the like.
[[nodiscard]] int64_t stat(const std::string& name, int device = 0) {
  std::string text(gpustrata_memory_stats(device, nullptr, 0) + 1, ' ');
  (void)gpustrata_memory_stats(device, text.data(), text.size());
  const size_t at = text.find("\"" + name + "\":");
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + name.size() + 3));
}

[[nodiscard]] std::string snapshot() {
  char* bytes = nullptr;
  size_t size = 0;
  EXPECT_EQ(gpustrata_snapshot(&bytes, &size), GPUSTRATA_OK) << gpustrata_last_error();
  const std::string text(bytes, size);
  gpustrata_free_bytes(bytes);
  return text;
}

[[nodiscard]] std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "gpustrata-" + std::to_string(getpid()) + "-" + name;
}

// With all that is in it, while it lives.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directory(path_); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::ptrdiff_t names() const {
    return std::distance(std::filesystem::recursive_directory_iterator(path_), {});
  }

 private:
  std::string path_ = temporary_path("folder");
};

class Capture : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(fake_cuda_misuses(), 0); }
};

TEST_F(Capture, SaysWhichDriverThereIs) {
  char text[100];
  EXPECT_GT(gpustrata_describe_devices(text, sizeof text), 0U);
  EXPECT_STREQ(text, "CUDA driver 12.4, 1 device");
  EXPECT_EQ(gpustrata_device_count(), 1);
}

TEST_F(Capture, HandsOutMemoryThatCanBeUsedAndReusesIt) {
  auto* const first = static_cast<char*>(take(1000));
  std::memset(first, 7, 1000);
  void* const second = take(1000);
  EXPECT_EQ(static_cast<char*>(second) - first, 1024);  // rounded to 512
  give_back(first);
  EXPECT_EQ(take(600), first);
  EXPECT_EQ(stat("allocation.all.current"), 2);
  EXPECT_EQ(stat("allocated_bytes.all.current"), 2048);
  EXPECT_EQ(stat("reserved_bytes.all.current"), static_cast<int64_t>(2 * kMiB));
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(2 * kMiB));
}

TEST_F(Capture, NoBytesIsNoPointer) {
  EXPECT_EQ(take(0), nullptr);
  give_back(nullptr);
  EXPECT_EQ(gpustrata_alloc(0, 0, nullptr), nullptr);
  EXPECT_EQ(stat("allocation.all.allocated"), 0);
}

TEST_F(Capture, EmptyCacheGivesEverythingBack) {
  give_back(take(30 * kMiB));
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(30 * kMiB));
  EXPECT_EQ(gpustrata_empty_cache(), GPUSTRATA_OK);
  EXPECT_EQ(fake_cuda_used(0), 0);
}

TEST_F(Capture, ExpandableSegmentsGrowInPlace) {
  ASSERT_EQ(gpustrata_set_allocator_settings("expandable_segments:True"), GPUSTRATA_OK);
  auto* const first = static_cast<char*>(take(20 * kMiB));
  auto* const second = static_cast<char*>(take(30 * kMiB));
  EXPECT_EQ(second - first, static_cast<std::ptrdiff_t>(20 * kMiB));
  std::memset(first, 1, 50 * kMiB);
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(60 * kMiB));  // pages of 20 MiB
  // The hole's pages go back, its address stays in the reservation and is used again.
  give_back(first);
  EXPECT_EQ(gpustrata_empty_cache(), GPUSTRATA_OK);
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(40 * kMiB));
  EXPECT_EQ(take(20 * kMiB), first);
  std::memset(first, 2, 20 * kMiB);
  give_back(first);
  give_back(second);
  EXPECT_EQ(gpustrata_empty_cache(), GPUSTRATA_OK);
  EXPECT_EQ(fake_cuda_used(0), 0);
}

TEST_F(Capture, MappingThatFailsHalfwayLeavesNothingBehind) {
  ASSERT_EQ(gpustrata_set_allocator_settings("expandable_segments:True"), GPUSTRATA_OK);
  void* pointer = nullptr;
  fake_cuda_fail(5, 700);  // 3 pages are created, the second of them cannot be mapped
  EXPECT_EQ(gpustrata_malloc(&pointer, 60 * kMiB, 0, nullptr), GPUSTRATA_DEVICE_ERROR);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("cuMemMap on device 0 says"));
  EXPECT_EQ(fake_cuda_used(0), 0);
  EXPECT_NE(take(60 * kMiB), nullptr);
}

TEST_F(Capture, OutOfMemorySaysSoAndTheProgramGoesOn) {
  void* const kept = take(600 * kMiB);
  void* pointer = kept;
  EXPECT_EQ(gpustrata_malloc(&pointer, 600 * kMiB, 0, nullptr), GPUSTRATA_OUT_OF_MEMORY);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("Tried to allocate 600.00 MiB"));
  EXPECT_EQ(stat("num_ooms"), 1);
  give_back(take(300 * kMiB));
  // Cached memory is given back to the device before out of memory is said.
  EXPECT_NE(take(400 * kMiB), nullptr);
  EXPECT_EQ(gpustrata_malloc(&pointer, SIZE_MAX, 0, nullptr), GPUSTRATA_OUT_OF_MEMORY);
}

TEST_F(Capture, OutOfMemoryLeavesASnapshot) {
  const std::string path = temporary_path("oom.pickle");
  ASSERT_EQ(gpustrata_record_memory_history(nullptr), GPUSTRATA_OK);
  ASSERT_EQ(gpustrata_set_oom_dump(path.c_str()), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_alloc(size_t{4} << 30, 0, nullptr), nullptr);
  EXPECT_EQ(gpustrata_alloc(size_t{4} << 30, 0, nullptr), nullptr);
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("oom"));
  EXPECT_THAT(text, HasSubstr("device_free"));
  const std::string second = path.substr(0, path.size() - 7) + ".1.pickle";
  EXPECT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(unlink(second.c_str()), 0) << second;
}

TEST_F(Capture, MemoryOfAnotherStreamWaitsForIt) {
  void* const side = stream(0x100);
  void* const shared = take(5 * kMiB);
  ASSERT_EQ(gpustrata_use_on_stream(shared, side), GPUSTRATA_OK);
  fake_cuda_hold(side);
  give_back(shared);
  EXPECT_EQ(stat("active.all.current"), 1);  // pending
  EXPECT_NE(take(5 * kMiB), shared);
  fake_cuda_finish(side);
  void* const next = take(5 * kMiB);  // looks at the events first
  EXPECT_EQ(next, shared);
  EXPECT_EQ(fake_cuda_events(), 1);
}

// Event calls need the device's context, which a thread that never used CUDA has not.
TEST_F(Capture, AThreadWithoutAContextAsksForEventsToo) {
  void* const side = stream(0x100);
  void* const shared = take(5 * kMiB);
  ASSERT_EQ(gpustrata_use_on_stream(shared, side), GPUSTRATA_OK);
  fake_cuda_hold(side);
  give_back(shared);
  std::thread([&] {
    CuContext current = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&current), kSuccess);
    ASSERT_EQ(current, nullptr);
    EXPECT_NE(take(5 * kMiB), shared);
    fake_cuda_finish(side);
    EXPECT_EQ(take(5 * kMiB), shared);
    ASSERT_EQ(cuCtxGetCurrent(&current), kSuccess);
    EXPECT_EQ(current, nullptr);
  }).join();
}

// The host program is at work on device 1 while this one's memory comes from device 0.
TEST(CaptureDevices, TheContextOfTheThreadIsPutBack) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "2", 1), 0);
  void* const shared = take(5 * kMiB, 0);
  void* const other = take(5 * kMiB, 1);
  CuContext second = nullptr, current = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), kSuccess);
  ASSERT_EQ(cuCtxPushCurrent_v2(second), kSuccess);
  ASSERT_EQ(gpustrata_use_on_stream(shared, stream(0x100)), GPUSTRATA_OK);
  fake_cuda_hold(stream(0x100));
  give_back(shared);
  EXPECT_NE(take(5 * kMiB, 0), shared);
  fake_cuda_finish(stream(0x100));
  EXPECT_EQ(take(5 * kMiB, 0), shared);
  ASSERT_EQ(cuCtxGetCurrent(&current), kSuccess);
  EXPECT_EQ(current, second);
  give_back(other);
  EXPECT_EQ(fake_cuda_misuses(), 0);
}

// Memory of device 0 that a stream of device 1 reads over the peer connection: the event that tells of its end is one of
// device 1, and is used again.
TEST(CaptureDevices, MemoryWaitsForAStreamOfAnotherDevice) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "2", 1), 0);
  void* const other = take(5 * kMiB, 1);
  CuContext second = nullptr, current = nullptr;
  CuStream elsewhere = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), kSuccess);
  ASSERT_EQ(cuCtxPushCurrent_v2(second), kSuccess);
  ASSERT_EQ(cuStreamCreate(&elsewhere, 0), kSuccess);
  ASSERT_EQ(cuCtxPopCurrent_v2(&current), kSuccess);
  for (int i = 0; i < 3; ++i) {
    void* const shared = take(5 * kMiB, 0);
    ASSERT_EQ(gpustrata_use_on_stream(shared, elsewhere), GPUSTRATA_OK);
    ASSERT_EQ(gpustrata_use_on_stream(shared, stream(0x100)), GPUSTRATA_OK);
    fake_cuda_hold(elsewhere);
    give_back(shared);
    void* const meanwhile = take(5 * kMiB, 0);
    EXPECT_NE(meanwhile, shared);
    fake_cuda_finish(elsewhere);
    void* const again = take(5 * kMiB, 0);
    EXPECT_EQ(again, shared);
    give_back(again);
    give_back(meanwhile);
  }
  EXPECT_EQ(fake_cuda_events(), 2);
  EXPECT_EQ(fake_cuda_misuses(), 0);
  give_back(other);
}

// 201: the context is invalid. That says nothing about the stream, so the memory is not handed out.
TEST_F(Capture, AnErrorOfTheQuestionIsNotTheEndOfTheWork) {
  void* const shared = take(5 * kMiB);
  ASSERT_EQ(gpustrata_use_on_stream(shared, stream(0x100)), GPUSTRATA_OK);
  fake_cuda_hold(stream(0x100));
  give_back(shared);
  fake_cuda_fail_queries(201);
  testing::internal::CaptureStderr();
  EXPECT_NE(take(5 * kMiB), shared);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("device 0: cuEventQuery says"));
  EXPECT_EQ(stat("active.all.current"), 2);
  fake_cuda_fail_queries(0);
  fake_cuda_finish(stream(0x100));
  EXPECT_EQ(take(5 * kMiB), shared);
}

// 700: an illegal address ended the context. Nothing runs any more, pending memory is free.
TEST_F(Capture, ADeadContextHoldsNoMemoryBack) {
  void* const shared = take(5 * kMiB);
  ASSERT_EQ(gpustrata_use_on_stream(shared, stream(0x100)), GPUSTRATA_OK);
  fake_cuda_hold(stream(0x100));
  give_back(shared);
  fake_cuda_fail_queries(700);
  EXPECT_EQ(take(5 * kMiB), shared);
}

TEST_F(Capture, MemoryInfoIsTheDriversAnswer) {
  int64_t free_bytes = -1, total_bytes = -1;
  ASSERT_EQ(gpustrata_memory_info(0, &free_bytes, &total_bytes), GPUSTRATA_OK);
  EXPECT_EQ(total_bytes, int64_t{1} << 30);
  EXPECT_EQ(free_bytes, total_bytes);
  give_back(take(30 * kMiB));  // stays reserved
  ASSERT_EQ(gpustrata_memory_info(0, &free_bytes, nullptr), GPUSTRATA_OK);
  EXPECT_EQ(free_bytes, total_bytes - static_cast<int64_t>(30 * kMiB));
  ASSERT_EQ(gpustrata_memory_info(0, nullptr, nullptr), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_memory_info(1, &free_bytes, &total_bytes), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), StartsWith("there is no device 1"));
}

TEST_F(Capture, StreamsDoNotShareBlocks) {
  void* const first = take(1000);
  give_back(first);
  EXPECT_NE(take(1000, 0, stream(0x100)), first);
}

TEST_F(Capture, EventsAreUsedAgain) {
  for (int i = 0; i < 100; ++i) {
    void* const pointer = take(kMiB);
    ASSERT_EQ(gpustrata_use_on_stream(pointer, stream(0x100)), GPUSTRATA_OK);
    give_back(pointer);
    give_back(take(kMiB));
  }
  EXPECT_LE(fake_cuda_events(), 2);
}

TEST(CaptureDevices, EachHasItsOwnMemory) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "2", 1), 0);
  void* const first = take(5 * kMiB, 0);
  void* const second = take(5 * kMiB, 1);
  EXPECT_EQ(fake_cuda_used(1), static_cast<int64_t>(20 * kMiB));
  EXPECT_EQ(stat("allocation.all.current", 0), 1);
  give_back(second);  // found without saying the device
  EXPECT_EQ(stat("allocation.all.current", 1), 0);
  gpustrata_free(first, 0, 1, nullptr);  // a wrong hint
  EXPECT_EQ(stat("allocation.all.current", 0), 0);
  EXPECT_EQ(gpustrata_enable_peer_access(0, 1), GPUSTRATA_OK);
  void* pointer = nullptr;
  EXPECT_EQ(gpustrata_malloc(&pointer, 1, 2, nullptr), GPUSTRATA_WRONG_USAGE);
  EXPECT_STREQ(gpustrata_last_error(), "there is no device 2: CUDA driver 12.4, 2 devices");
}

TEST_F(Capture, MemoryFractionIsALimit) {
  ASSERT_EQ(gpustrata_set_memory_fraction(0.5, 0), GPUSTRATA_OK);
  EXPECT_DOUBLE_EQ(gpustrata_get_memory_fraction(0), 0.5);
  void* pointer = nullptr;
  EXPECT_EQ(gpustrata_malloc(&pointer, 600 * kMiB, 0, nullptr), GPUSTRATA_OUT_OF_MEMORY);
  EXPECT_EQ(gpustrata_set_memory_fraction(1.5, 0), GPUSTRATA_WRONG_USAGE);
  gpustrata_hook_memory_fraction(1.0, 0);
  EXPECT_NE(take(600 * kMiB), nullptr);
}

TEST_F(Capture, PoolsKeepTheirMemoryApart) {
  const gpustrata_pool pool{0, 1};
  ASSERT_EQ(gpustrata_pool_begin(0, pool), GPUSTRATA_OK);
  void* const inside = take(5 * kMiB);
  void* elsewhere = nullptr;
  std::thread([&] { elsewhere = take(5 * kMiB); }).join();  // of the calling thread only
  EXPECT_EQ(gpustrata_pool_begin(0, pool), GPUSTRATA_WRONG_USAGE);
  ASSERT_EQ(gpustrata_pool_end(0, pool), GPUSTRATA_OK);
  give_back(inside);
  void* const outside = take(5 * kMiB);
  EXPECT_NE(outside, inside);
  EXPECT_EQ(static_cast<char*>(outside) - static_cast<char*>(elsewhere),
            static_cast<std::ptrdiff_t>(5 * kMiB));
  ASSERT_EQ(gpustrata_pool_release(0, pool), GPUSTRATA_OK);
  EXPECT_EQ(gpustrata_empty_cache(), GPUSTRATA_OK);
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(20 * kMiB));
}

// As PyTorch calls them: by address, the last three with C++ types.
TEST_F(Capture, PluggableHooksHaveTheTypesOfPyTorch) {
  using Id = std::pair<unsigned long long, unsigned long long>;
  const auto find = [](const char* name) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    EXPECT_NE(found, nullptr) << name;
    return found;
  };
  const auto begin = reinterpret_cast<void (*)(int, Id, std::function<bool(void*)>)>(
      find("gpustrata_hook_begin_allocate_to_pool"));
  const auto end = reinterpret_cast<void (*)(int, Id)>(find("gpustrata_hook_end_allocate_to_pool"));
  const auto release = reinterpret_cast<void (*)(int, Id)>(find("gpustrata_hook_release_pool"));
  gpustrata_hook_init(1);
  int asked = 0;
  begin(0, {3, 0}, [&asked](void* on) { return ++asked, on == stream(0x40); });
  void* const captured = gpustrata_alloc(5 * kMiB, 0, stream(0x40));
  void* const other = gpustrata_alloc(5 * kMiB, 0, stream(0x80));
  end(0, {3, 0});
  EXPECT_EQ(asked, 2);
  gpustrata_free(captured, 5 * kMiB, 0, stream(0x40));
  EXPECT_NE(gpustrata_alloc(5 * kMiB, 0, stream(0x40)), captured);
  release(0, {3, 0});
  gpustrata_hook_record_stream(other, stream(0x40));
  gpustrata_hook_record_stream(stream(0x123456), stream(0x40));  // not ours: ignored
  size_t size = 0;
  EXPECT_EQ(gpustrata_hook_base_alloc(static_cast<char*>(other), &size), other);
  EXPECT_EQ(size, 20 * kMiB);
  gpustrata_hook_reset();
  EXPECT_EQ(fake_cuda_used(0), static_cast<int64_t>(40 * kMiB));
}

// What install() gives to PyTorch, which does not look at a null result.
TEST_F(Capture, PyTorchIsToldOfOutOfMemoryByAnException) {
  void* const pointer = gpustrata_alloc_or_throw(1000, 0, nullptr);
  EXPECT_NE(pointer, nullptr);
  EXPECT_EQ(gpustrata_alloc_or_throw(0, 0, nullptr), nullptr);
  const std::string path = temporary_path("thrown.pickle");
  ASSERT_EQ(gpustrata_set_oom_dump(path.c_str()), GPUSTRATA_OK);
  try {
    (void)gpustrata_alloc_or_throw(size_t{2} << 30, 0, nullptr);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), StartsWith("CUDA out of memory. Tried to allocate 2.00 GiB"));
    EXPECT_EQ(unlink(path.c_str()), 0);  // written before
  }
  EXPECT_THROW((void)gpustrata_alloc_or_throw(1000, 7, nullptr), std::runtime_error);
  give_back(pointer);
}

TEST_F(Capture, APoolThatCannotBeginThrowsAndOneThatIsNotThereIsReleasedInSilence) {
  using Id = std::pair<unsigned long long, unsigned long long>;
  const auto begin = reinterpret_cast<void (*)(int, Id, std::function<bool(void*)>)>(
      dlsym(RTLD_DEFAULT, "gpustrata_hook_begin_allocate_to_pool"));
  const auto release =
      reinterpret_cast<void (*)(int, Id)>(dlsym(RTLD_DEFAULT, "gpustrata_hook_release_pool"));
  gpustrata_hook_init(1);
  begin(0, {3, 0}, nullptr);
  EXPECT_THROW(begin(0, {3, 0}, nullptr), std::runtime_error);  // it is being recorded already
  EXPECT_THROW(begin(9, {4, 0}, nullptr), std::runtime_error);  // no such device
  testing::internal::CaptureStderr();
  release(0, {8, 0});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Copies between devices are made by either of them: both must be allowed to.
TEST(CaptureDevices, ExpandableSegmentsAreMappedForEveryPeer) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "3", 1), 0);
  ASSERT_EQ(setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1), 0);
  void* const pointer = take(5 * kMiB, 1);
  for (const int device : {0, 1, 2}) EXPECT_EQ(fake_cuda_reaches(device, pointer), 1) << device;
  EXPECT_EQ(fake_cuda_misuses(), 0);
}

TEST(CaptureDevices, WithoutPeerAccessSegmentsAreOrdinaryOnes) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "2", 1), 0);
  ASSERT_EQ(setenv("FAKE_CUDA_NO_PEER", "1", 1), 0);
  ASSERT_EQ(setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(fake_cuda_reaches(0, take(5 * kMiB, 0)), -1);  // of cuMemAlloc
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("device 0: no expandable segments, since device 1 cannot reach them"));
  // Asked for later, too.
  ASSERT_EQ(gpustrata_set_allocator_settings("expandable_segments:True,max_split_size_mb:64"), GPUSTRATA_OK);
  EXPECT_EQ(fake_cuda_reaches(0, take(30 * kMiB, 0)), -1);
}

TEST(CaptureSettings, WhatIsNotKnownDoesNotLoseTheRest) {
  ASSERT_EQ(setenv("PYTORCH_CUDA_ALLOC_CONF",
                   "expandable_segments_reserve_by_class:[1:2,3:4],expandable_segments:True,of_2031:x", 1),
            0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(fake_cuda_reaches(0, take(5 * kMiB)), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("expandable_segments_reserve_by_class, of_2031 is not known here and ignored"));
  // Said by the program, a wrong word is an error.
  EXPECT_EQ(gpustrata_set_allocator_settings("of_2031:x"), GPUSTRATA_WRONG_USAGE);
}

// A capture that PyTorch did not begin: its events never end, the stream's work does.
TEST_F(Capture, AnEventOfACaptureCountsOnceTheCaptureIsOver) {
  void* const shared = take(5 * kMiB);
  ASSERT_EQ(gpustrata_use_on_stream(shared, stream(0x100)), GPUSTRATA_OK);
  fake_cuda_capture(stream(0x100), 1);
  give_back(shared);
  EXPECT_NE(take(5 * kMiB), shared);
  fake_cuda_hold(stream(0x100));
  fake_cuda_capture(stream(0x100), 0);
  EXPECT_NE(take(5 * kMiB), shared);  // the stream works on
  fake_cuda_finish(stream(0x100));
  EXPECT_EQ(take(5 * kMiB), shared);
}

// --- Faults
// ----------------------------------------------------------------------------------------------------

TEST_F(Capture, WrongFreesAreRefused) {
  void* const pointer = take(1000);
  give_back(pointer);
  EXPECT_EQ(gpustrata_release(pointer), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("it was freed before, or is not this allocator's"));
  EXPECT_EQ(gpustrata_release(stream(0x1234)), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), StartsWith("no allocation starts at 0x1234"));
  testing::internal::CaptureStderr();
  gpustrata_free(stream(0x1234), 0, 0, nullptr);
  gpustrata_free(stream(0x1234), 0, 0, nullptr);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, StartsWith("gpustrata: no allocation starts at 0x1234"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);  // once
  EXPECT_EQ(take(1000), pointer);
}

TEST_F(Capture, DoubleFreeOfPendingMemoryIsRefused) {
  void* const pointer = take(1000);
  fake_cuda_hold(stream(0x100));
  ASSERT_EQ(gpustrata_use_on_stream(pointer, stream(0x100)), GPUSTRATA_OK);
  give_back(pointer);
  EXPECT_EQ(gpustrata_release(pointer), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("was freed before"));
}

TEST_F(Capture, WrongOptionsAreNamed) {
  EXPECT_EQ(gpustrata_set_allocator_settings("max_split_size_mb:1"), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("max_split_size_mb"));
  gpustrata_history history;
  gpustrata_default_history(&history);
  history.stacks = "java";
  EXPECT_EQ(gpustrata_record_memory_history(&history), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("java"));
  gpustrata_default_history(&history);
  history.skip_actions = "alloc,dance";
  EXPECT_EQ(gpustrata_record_memory_history(&history), GPUSTRATA_WRONG_USAGE);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("dance"));
  EXPECT_EQ(gpustrata_region_end(0), GPUSTRATA_WRONG_USAGE);
}

TEST_F(Capture, UnwritablePathsAreNamed) {
  EXPECT_EQ(gpustrata_dump_snapshot("/no/such/folder/run.pickle"), GPUSTRATA_IO_ERROR);
  EXPECT_THAT(gpustrata_last_error(),
              HasSubstr("cannot create the snapshot /no/such/folder/run.pickle: No such file or directory"));
  EXPECT_EQ(gpustrata_dump_snapshot(""), GPUSTRATA_WRONG_USAGE);
}

TEST_F(Capture, AFullDiskLosesNothing) {
  ASSERT_EQ(gpustrata_record_memory_history(nullptr), GPUSTRATA_OK);
  for (int i = 0; i < 2000; ++i) give_back(take(1000));
  const std::string path = temporary_path("full.pickle");
  std::ofstream(path) << "before";
  // As on a full disk, a write fails halfway.
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{32768, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(gpustrata_dump_snapshot(path.c_str()), GPUSTRATA_IO_ERROR);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("The recording is kept"));
  std::string kept;
  std::ifstream(path) >> kept;
  EXPECT_EQ(kept, "before");
  EXPECT_EQ(gpustrata_dump_snapshot(path.c_str()), GPUSTRATA_OK);
  EXPECT_GT(std::ifstream(path, std::ios::ate).tellg(), 100000);
  EXPECT_EQ(unlink(path.c_str()), 0);
}

// What is not a file is never replaced. (In a folder of the test: with a defect here /dev/full would be
// gone.)
TEST_F(Capture, APipeIsWrittenInPlace) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe", link = folder / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(symlink("pipe", link.c_str()), 0);
  EXPECT_EQ(gpustrata_dump_snapshot(pipe.c_str()), GPUSTRATA_IO_ERROR);  // nobody reads it: not waited for
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("cannot create the snapshot " + pipe));
  void* const pointer = take(1000);
  for (const std::string& path : {pipe, link}) {
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    EXPECT_EQ(gpustrata_dump_snapshot(path.c_str()), GPUSTRATA_OK) << gpustrata_last_error();
    std::string text(65536, ' ');
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(reader, text.data(), text.size()))));
    EXPECT_EQ(text.substr(0, 2), "\x80\x04");  // a pickle, whole
    EXPECT_THAT(text, EndsWith("."));
    EXPECT_EQ(close(reader), 0);
  }
  struct stat about {};
  ASSERT_EQ(lstat(pipe.c_str(), &about), 0);
  EXPECT_TRUE(S_ISFIFO(about.st_mode));
  ASSERT_EQ(lstat(link.c_str(), &about), 0);
  EXPECT_TRUE(S_ISLNK(about.st_mode));
  EXPECT_EQ(folder.names(), 2);
  give_back(pointer);
}

TEST_F(Capture, AReaderOfThePipeThatGoesAwayIsAnError) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(gpustrata_record_memory_history(nullptr), GPUSTRATA_OK);
  for (int i = 0; i < 2000; ++i) give_back(take(1000));  // more than a pipe holds
  std::thread reader([&] {
    const int descriptor = open(pipe.c_str(), O_RDONLY);
    char byte = 0;
    EXPECT_EQ(read(descriptor, &byte, 1), 1);
    EXPECT_EQ(close(descriptor), 0);
  });
  // Not ignored here: an unguarded write would end this process.
  ASSERT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);
  gpustrata_status status = GPUSTRATA_OK;
  do {
    status = gpustrata_dump_snapshot(pipe.c_str());  // until the reader is there
  } while (status != GPUSTRATA_OK && std::strstr(gpustrata_last_error(), "cannot create") != nullptr);
  reader.join();
  EXPECT_EQ(status, GPUSTRATA_IO_ERROR);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("cannot write the snapshot " + pipe + ": Broken pipe"));
}

TEST_F(Capture, LinksStayAndTheirFileIsReplaced) {
  const TemporaryFolder folder;
  const std::string file = folder / "sub/run.pickle", first = folder / "first",
                    second = folder / "sub/second";
  ASSERT_EQ(mkdir((folder / "sub").c_str(), 0700), 0);
  ASSERT_EQ(symlink("sub/second", first.c_str()), 0);
  ASSERT_EQ(symlink("run.pickle", second.c_str()), 0);
  for (const bool there : {false, true}) {  // the links lead nowhere at first
    EXPECT_EQ(gpustrata_dump_snapshot(first.c_str()), GPUSTRATA_OK) << gpustrata_last_error();
    struct stat about {};
    ASSERT_EQ(lstat(first.c_str(), &about), 0);
    EXPECT_TRUE(S_ISLNK(about.st_mode));
    ASSERT_EQ(lstat(second.c_str(), &about), 0);
    EXPECT_TRUE(S_ISLNK(about.st_mode));
    ASSERT_EQ(lstat(file.c_str(), &about), 0);
    EXPECT_TRUE(S_ISREG(about.st_mode));
    EXPECT_GT(about.st_size, 100);
    if (there) {
      EXPECT_EQ(about.st_mode & 0777, 0600U);  // as the one before
    }
    ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  }
  EXPECT_EQ(folder.names(), 4);  // sub, first, second, run.pickle
  const std::string circle = folder / "circle";
  ASSERT_EQ(symlink("circle", circle.c_str()), 0);
  EXPECT_EQ(gpustrata_dump_snapshot(circle.c_str()), GPUSTRATA_IO_ERROR);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("Too many levels of symbolic links"));
  EXPECT_EQ(gpustrata_dump_snapshot((folder / "sub").c_str()), GPUSTRATA_IO_ERROR);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("Is a directory"));
}

// The number of the device was right.
TEST(CaptureDevices, WithoutAnyTheReasonIsTheDrivers) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "0", 1), 0);
  void* pointer = nullptr;
  EXPECT_EQ(gpustrata_malloc(&pointer, 1000, 0, nullptr), GPUSTRATA_DEVICE_ERROR);
  EXPECT_THAT(gpustrata_last_error(),
              StartsWith("the CUDA driver does not start: cuInit says CUDA_ERROR_NO_DEVICE"));
  EXPECT_EQ(gpustrata_device_count(), 0);
}

TEST_F(Capture, DeviceErrorsAreNotOutOfMemory) {
  const TemporaryFolder folder;
  ASSERT_EQ(gpustrata_set_oom_dump((folder / "oom.pickle").c_str()), GPUSTRATA_OK);
  void* pointer = nullptr;
  fake_cuda_fail(1, 700);
  EXPECT_EQ(gpustrata_malloc(&pointer, 1000, 0, nullptr), GPUSTRATA_DEVICE_ERROR);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("cuMemAlloc on device 0 says"));
  EXPECT_EQ(stat("num_ooms"), 0);
  EXPECT_EQ(folder.names(), 0);
  EXPECT_NE(take(1000), nullptr);
}

TEST(CaptureWithoutVirtualMemory, ExpandableSegmentsSayWhatIsMissing) {
  ASSERT_EQ(setenv("FAKE_CUDA_NO_VMM", "1", 1), 0);
  ASSERT_EQ(gpustrata_set_allocator_settings("expandable_segments:True"), GPUSTRATA_OK);
  void* pointer = nullptr;
  EXPECT_EQ(gpustrata_malloc(&pointer, 1000, 0, nullptr), GPUSTRATA_DEVICE_ERROR);
  EXPECT_THAT(gpustrata_last_error(), HasSubstr("no virtual memory management"));
}

TEST(CaptureSimulated, WorksWithoutAnyDriver) {
  ASSERT_EQ(gpustrata_use_simulated_device(int64_t{1} << 30), GPUSTRATA_OK);
  EXPECT_NE(take(1000), nullptr);
  EXPECT_EQ(gpustrata_use_simulated_device(int64_t{1} << 30), GPUSTRATA_WRONG_USAGE);
}

// --- Threads, fork, exit
// -----------------------------------------------------------------------------------------

// Random requests; every block is filled with its owner's pattern and checked before it is freed.
void work(unsigned seed, int steps, int devices) {
  std::mt19937 random(seed);
  struct Held {
    unsigned char* bytes;
    size_t size;
    unsigned char pattern;
  };
  std::vector<Held> held;
  for (int i = 0; i < steps; ++i) {
    if (held.size() < 40 && random() % 5 < 3) {
      const size_t size = random() % 8 != 0 ? 1 + random() % 20000 : 1 + random() % (3 * kMiB);
      auto* const bytes = static_cast<unsigned char*>(gpustrata_alloc(
          size, static_cast<int>(random() % static_cast<unsigned>(devices)), stream(random() % 3 * 0x100)));
      if (bytes == nullptr) continue;
      const auto pattern = static_cast<unsigned char>(random());
      bytes[0] = bytes[size / 2] = bytes[size - 1] = pattern;
      held.push_back({bytes, size, pattern});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held block = held.back();
      held.pop_back();
      ASSERT_TRUE(block.bytes[0] == block.pattern && block.bytes[block.size / 2] == block.pattern &&
                  block.bytes[block.size - 1] == block.pattern);
      if (random() % 8 == 0) (void)gpustrata_use_on_stream(block.bytes, stream(random() % 3 * 0x100));
      gpustrata_free(block.bytes, block.size, 0, nullptr);
    }
  }
  for (const Held& block : held) gpustrata_free(block.bytes, block.size, 0, nullptr);
}

void run_threads(int steps) {
  ASSERT_EQ(setenv("FAKE_CUDA_DEVICES", "2", 1), 0);
  ASSERT_EQ(gpustrata_record_memory_history(nullptr), GPUSTRATA_OK);
  std::atomic<bool> stop{false};
  // Everything else that may happen at the same time.
  std::thread disturber([&] {
    for (int i = 0; !stop; ++i) {
      gpustrata_history history;
      gpustrata_default_history(&history);
      history.max_entries = 1000 + i % 3 * 1000;
      EXPECT_EQ(gpustrata_record_memory_history(&history), GPUSTRATA_OK);
      const gpustrata::Region region("step", i % 2);
      EXPECT_EQ(gpustrata_set_user_metadata(i % 2 == 0 ? "odd" : ""), GPUSTRATA_OK);
      EXPECT_FALSE(snapshot().empty());
      (void)stat("num_ooms", i % 2);
      EXPECT_EQ(gpustrata_empty_cache(), GPUSTRATA_OK);
    }
  });
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < 4; ++i) workers.emplace_back(work, i, steps, 2);
  for (std::thread& worker : workers) worker.join();
  stop = true;
  disturber.join();
  EXPECT_EQ(gpustrata_empty_cache(), GPUSTRATA_OK);
  for (int device = 0; device < 2; ++device) {
    EXPECT_EQ(stat("active.all.current", device), 0);
    EXPECT_EQ(fake_cuda_used(device), 0);
  }
  EXPECT_EQ(fake_cuda_misuses(), 0);
}

TEST(CaptureThreads, KeepTheirBytes) { run_threads(3000); }
TEST(CaptureThreads, KeepTheirBytesInExpandableSegments) {
  ASSERT_EQ(setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1), 0);
  run_threads(3000);
}

TEST_F(Capture, AForkedChildIsToldAndTheParentGoesOn) {
  void* const pointer = take(1000);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    void* none = nullptr;
    const bool right = gpustrata_malloc(&none, 1000, 0, nullptr) == GPUSTRATA_WRONG_USAGE &&
                       none == nullptr && std::strstr(gpustrata_last_error(), "forked child") != nullptr &&
                       gpustrata_release(pointer) == GPUSTRATA_WRONG_USAGE &&
                       gpustrata_dump_snapshot("/tmp/never") == GPUSTRATA_WRONG_USAGE &&
                       fake_cuda_misuses() == 0;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  give_back(pointer);
  EXPECT_EQ(take(1000), pointer);
}

// A data loader's worker drops its copies of the parent's tensors.
TEST_F(Capture, AForkedChildFreesInSilence) {
  void* const pointer = take(1000);
  testing::internal::CaptureStderr();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    gpustrata_free(pointer, 1000, 0, nullptr);
    _exit(fake_cuda_misuses() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  give_back(pointer);
  EXPECT_EQ(take(1000), pointer);
}

TEST(CaptureFork, AChildOfAProgramThatHasNotBegunMayBegin) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(gpustrata_alloc(1000, 0, nullptr) != nullptr ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CaptureExitDeathTest, ThreadsMayAllocateWhileTheProcessEnds) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  // LeakSanitizer's own look at threads that still run ends in a fault now and then.
  ASSERT_EQ(setenv("ASAN_OPTIONS", "detect_leaks=0", 1), 0);
  EXPECT_EXIT(
      {
        (void)gpustrata_record_memory_history(nullptr);
        for (unsigned i = 0; i < 3; ++i) std::thread(work, i, 100000000, 1).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// A fixed number of steps, again and again: after the first time they take nothing more.
void keep_a_history_of_2000() {
  gpustrata_history history;
  gpustrata_default_history(&history);
  history.max_entries = 2000;
  ASSERT_EQ(gpustrata_record_memory_history(&history), GPUSTRATA_OK);
}

TEST_F(Capture, SteadyWorkTakesNoMoreMemory) {
  if (!GPUSTRATA_COUNTS_MALLOC)
    GTEST_SKIP() << "a sanitizer has its own malloc, of which mallinfo2 does not know";
  keep_a_history_of_2000();
  const auto heap = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  work(1, 20000, 1);
  const size_t before = heap();
  {
    const std::vector<char> more(size_t{1} << 16);
    ASSERT_GE(heap(), before + (size_t{1} << 16));  // what malloc gives is counted
  }
  for (int i = 0; i < 5; ++i) work(1, 20000, 1);
  EXPECT_LE(heap(), before + 64 * 1024);  // less than a byte for each step
}

TEST_F(Capture, SteadyWorkMakesNoMoreEvents) {
  keep_a_history_of_2000();
  work(1, 20000, 1);
  const int64_t events = fake_cuda_events();
  for (int i = 0; i < 5; ++i) work(1, 20000, 1);
  EXPECT_EQ(fake_cuda_events(), events);
}

// --- C++
// ---------------------------------------------------------------------------------------------------------

TEST_F(Capture, TheCppFaceThrowsAndCleansUp) {
  {
    gpustrata::DeviceBuffer buffer(1000);
    gpustrata::DeviceBuffer moved = std::move(buffer);
    EXPECT_NE(moved.get(), nullptr);
    EXPECT_EQ(buffer.get(), nullptr);  // NOLINT: moved from
    EXPECT_EQ(stat("allocation.all.current"), 1);
  }
  EXPECT_EQ(stat("allocation.all.current"), 0);
  try {
    const gpustrata::DeviceBuffer huge(size_t{1} << 50);
    FAIL();
  } catch (const gpustrata::CaptureError& error) {
    EXPECT_EQ(error.status, GPUSTRATA_OUT_OF_MEMORY);
  }
}

[[gnu::noinline]] void* outer_function_of_the_test();
[[gnu::noinline]] void* inner_function_of_the_test() {
  void* const pointer = take(1000);
  asm volatile("" : : "r"(pointer) : "memory");
  return pointer;
}
void* outer_function_of_the_test() {
  void* const pointer = inner_function_of_the_test();
  asm volatile("" : : "r"(pointer) : "memory");
  return pointer;
}

TEST_F(Capture, CppStacksHaveNames) {
  ASSERT_EQ(gpustrata_record_memory_history(nullptr), GPUSTRATA_OK);
  (void)outer_function_of_the_test();
  const std::string text = snapshot();
  const size_t inner = text.find("inner_function_of_the_test()");
  const size_t outer = text.find("outer_function_of_the_test()");
  EXPECT_NE(inner, std::string::npos);
  EXPECT_NE(outer, std::string::npos);
  EXPECT_LT(inner, outer);  // frames are written innermost first
  EXPECT_EQ(text.find("gather_cpp_stack"), std::string::npos);
}

}  // namespace
