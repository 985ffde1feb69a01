// A simulated device, its allocator and a recorder, ready to use.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "tests/unit/io/dump_snapshot.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/io/write_read.h"
#include "tests/unit/trace/manual_clock.h"

namespace gpustrata::tests {

class RecordedRun {
 public:
  explicit RecordedRun(int devices = 1, int64_t device_bytes = int64_t{8} << 30,
                       const std::string& settings = {}) {
    alloc::Config config;
    if (!settings.empty()) {
      EXPECT_TRUE(alloc::apply_settings(config, settings)) << settings;
    }
    for (int i = 0; i < devices; ++i) {
      memories.push_back(std::make_unique<alloc::SimulatedDevice>(device_bytes));
      allocators.push_back(
          std::make_unique<alloc::DeviceAllocator>(*memories.back(), i, config, &recorder.device(i), budget));
    }
  }
  void record(const trace::RecordOptions& options = {}) {
    EXPECT_TRUE(recorder.record_memory_history(options));
  }
  [[nodiscard]] alloc::DeviceAllocator& allocator(size_t i = 0) { return *allocators[i]; }
  [[nodiscard]] StackId stack(std::initializer_list<const char*> names) {
    std::vector<FrameId> frames;
    for (const char* name : names) frames.push_back(recorder.frame(name, "model.py", 1));
    return recorder.stack(frames);
  }
  // A malloc as a client makes it: with its stack if the recorder wants one.
  uint64_t malloc(int64_t bytes, StackId stack = {}, int64_t stream = 0) {
    const StackId kept = recorder.wants_stack(trace::StackLevel::state) ? stack : StackId();
    const auto address = allocator().malloc(bytes, stream, {kept, {}});
    EXPECT_TRUE(address);
    return address.value_or(0);
  }
  void free(uint64_t address, StackId stack = {}) {
    const StackId kept = recorder.wants_stack(trace::StackLevel::all) ? stack : StackId();
    EXPECT_TRUE(allocator().free(address, {kept, {}}));
  }
  [[nodiscard]] std::vector<alloc::DeviceAllocator*> all() {
    std::vector<alloc::DeviceAllocator*> pointers;
    for (const auto& one : allocators) pointers.push_back(one.get());
    return pointers;
  }
  [[nodiscard]] std::string dump() {
    Budget memory(int64_t{1} << 30);
    io::MemorySink sink(memory);
    const Status status = dump_snapshot(recorder, all(), int64_t{1} << 30, sink);
    EXPECT_TRUE(status) << status.error().message;
    return as_text(sink.bytes());
  }

  Budget budget{int64_t{1} << 30};
  ManualClock clock;
  trace::Recorder recorder{clock, budget};
  std::vector<std::unique_ptr<alloc::SimulatedDevice>> memories;
  std::vector<std::unique_ptr<alloc::DeviceAllocator>> allocators;
};

}  // namespace gpustrata::tests
