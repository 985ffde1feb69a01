// An allocator that is observed while many threads use it: recordings begin, are taken and end meanwhile. With ThreadSanitizer in the
// group native-thread.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/gpustrata.h"

namespace {

constexpr int kObservedDevices = 2;
constexpr int kThreads = 16;
constexpr int64_t kSlot = int64_t{1} << 20;

// Of each device a segment in which every thread has a place of its own.
struct MadeUpDevice {
  std::mutex lock;
  std::array<bool, kThreads> is_live{};
  int64_t told = 0;  // allocs and frees
  int64_t told_at_snapshot = 0;

  static uint64_t address(int device, int place) {
    return (uint64_t{1} << 40) * static_cast<uint64_t>(device + 1) + static_cast<uint64_t>(place * kSlot);
  }
};
std::array<MadeUpDevice, kObservedDevices> g_devices;
std::atomic<uint64_t> g_clock{1};

// A snapshot has no place, and says how many bytes are active.
void hear(int device, int32_t action, int place, int64_t size = kSlot) {
  gpustrata_observed_event event{};
  event.action = action;
  event.device = device;
  event.address = place < 0 ? 0 : MadeUpDevice::address(device, place);
  event.size = size;
  event.time = ++g_clock;
  gpustrata_observed(&event);
}

const char* snapshot_of_all(const gpustrata_observed_state* state) {
  for (int device = 0; device < kObservedDevices; ++device) {
    std::vector<gpustrata_observed_block> blocks;
    gpustrata_observed_segment segment{};
    {
      MadeUpDevice& of = g_devices[static_cast<size_t>(device)];
      const std::lock_guard<std::mutex> guard(of.lock);
      for (int place = 0; place < kThreads; ++place) {
        const bool live = of.is_live[static_cast<size_t>(place)];
        blocks.push_back({MadeUpDevice::address(device, place), kSlot, live ? kSlot : 0, live, live});
        if (live) segment.allocated_size += kSlot;
      }
      of.told_at_snapshot = of.told;
      hear(device, 7, -1, segment.allocated_size);
    }
    segment.device = device;
    segment.is_large = 1;
    segment.block_count = kThreads;
    segment.address = MadeUpDevice::address(device, 0);
    segment.total_size = kThreads * kSlot;
    segment.active_size = segment.requested_size = segment.allocated_size;
    segment.blocks = blocks.data();
    state->segment(state->to, &segment);
  }
  state->settings(state->to, "", "{}");
  return nullptr;
}

constexpr gpustrata_observable kMadeUp{kObservedDevices, 1, [] { return uint64_t{++g_clock}; },
                                       snapshot_of_all};

class ObservedThreads : public testing::Test {
 protected:
  void SetUp() override {
    for (int place = 0; place < kThreads; ++place) {
      threads_.emplace_back([this, place] {
        for (int i = 0; !ends_; ++i) use(i % kObservedDevices, place);
      });
    }
  }
  void TearDown() override {
    ends_ = true;
    for (std::thread& one : threads_) one.join();
  }

  static void use(int device, int place) {
    MadeUpDevice& of = g_devices[static_cast<size_t>(device)];
    {
      const std::lock_guard<std::mutex> guard(of.lock);
      bool& is_live = of.is_live[static_cast<size_t>(place)];
      hear(device, is_live ? 1 : 0, place);
      if (is_live) hear(device, 2, place);
      of.told += is_live ? 2 : 1;
      is_live = !is_live;
    }
    gpustrata_observed_region("used", place % 2, device, ++g_clock);
  }
  [[nodiscard]] static std::array<int64_t, kObservedDevices> told() {
    return {g_devices[0].told_at_snapshot, g_devices[1].told_at_snapshot};
  }
  static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

// Every event between the two snapshots is kept, and leads to the state of the second.
TEST_F(ObservedThreads, EachRecordingIsWhole) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "observed_threads.pickle";
  for (int round = 0; round < 20; ++round) {
    const auto stacks = round % 4 == 0 ? GPUSTRATA_STACKS_NATIVE : GPUSTRATA_STACKS_NONE;
    ASSERT_EQ(gpustrata_observe(&kMadeUp, stacks, int64_t{1} << 24), GPUSTRATA_OK) << gpustrata_last_error();
    const auto before = told();
    wait();
    gpustrata_observation* taken = nullptr;
    ASSERT_EQ(gpustrata_observation_take(&taken), GPUSTRATA_OK) << gpustrata_last_error();
    const auto after = told();
    EXPECT_EQ(gpustrata_observation_lost(taken), 0);
    for (int device = 0; device < kObservedDevices; ++device) {
      const auto i = static_cast<size_t>(device);
      EXPECT_EQ(gpustrata_observation_events(taken, device), after[i] - before[i]) << round;
      EXPECT_EQ(gpustrata_observation_segments(taken, device), 1);
    }
    if (round % 10 == 0) {
      EXPECT_EQ(gpustrata_observation_write(taken, path.c_str()), GPUSTRATA_OK);
    }
    gpustrata_observation_free(taken);
    ASSERT_EQ(gpustrata_observe_end(), GPUSTRATA_OK) << gpustrata_last_error();
  }
  EXPECT_GT(told()[0], 1000);
}

TEST_F(ObservedThreads, JournalsBeginAndEndMeanwhile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "observed_threads.gpustrata";
  for (int round = 0; round < 10; ++round) {
    const auto stacks = round % 4 == 0 ? GPUSTRATA_STACKS_NATIVE : GPUSTRATA_STACKS_NONE;
    ASSERT_EQ(gpustrata_observe_to_journal(&kMadeUp, stacks, path.c_str(), int64_t{1} << 26), GPUSTRATA_OK)
        << gpustrata_last_error();
    for (int tries = 0; tries < 2000 && gpustrata_observed_journal_events(0) == 0; ++tries) wait();
    EXPECT_GT(gpustrata_observed_journal_events(0), 0);
    EXPECT_EQ(gpustrata_observed_journal_is_cut(), 0);
    ASSERT_EQ(gpustrata_observe_end(), GPUSTRATA_OK) << gpustrata_last_error();
  }
  std::filesystem::remove(path);
}

}  // namespace
