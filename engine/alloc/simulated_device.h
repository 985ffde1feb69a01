// Device memory without a device: capacity, addresses that grow and are never used again, failures and the
// end of streams' work on command.
//
// Deterministic: allocation i gets the next 2 MiB aligned address, whatever was freed before. All memory is
// free at the start.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/alloc/device_memory.h"

namespace memstrata::alloc {

class SimulatedDevice final : public DeviceMemory {
 public:
  static constexpr uint64_t kFirstAddress = uint64_t{0x7f0000000000};
  static constexpr uint64_t kAlignment = uint64_t{2} << 20;

  explicit SimulatedDevice(int64_t total_bytes) : total_(total_bytes), free_(total_bytes) {}

  // All work so far on the stream is finished.
  void finish(int64_t stream);
  // The n-th allocation or mapping from now (1 = the next) fails; `failure` says how.
  void fail_at(int64_t n, DeviceFailure failure);
  // Memory that others take (positive) or give back.
  void take_elsewhere(int64_t bytes) { free_ -= bytes; }

  // Start of every allocation and reservation so far, in order: the names S0, S1, ... of simulations.
  [[nodiscard]] const std::vector<uint64_t>& ranges() const { return ranges_; }
  [[nodiscard]] int64_t outstanding_events() const { return static_cast<int64_t>(events_.size()); }

  [[nodiscard]] DeviceMemoryInfo info() override { return {free_, total_}; }
  [[nodiscard]] DeviceResult<uint64_t> allocate(int64_t bytes) override;
  void free(uint64_t address, int64_t bytes) override;
  [[nodiscard]] DeviceResult<uint64_t> reserve(int64_t bytes) override;
  void release(uint64_t address, int64_t bytes) override;
  [[nodiscard]] DeviceResult<void> map(uint64_t address, int64_t bytes, int64_t page_bytes) override;
  void unmap(uint64_t address, int64_t bytes, int64_t page_bytes) override;
  [[nodiscard]] DeviceResult<EventHandle> record_event(int64_t stream) override;
  [[nodiscard]] bool is_finished(EventHandle event) override;
  void wait(EventHandle event) override;
  void release_event(EventHandle event) override;
  void wait_for_stream(int64_t stream) override { finish(stream); }

 private:
  struct Event {
    int64_t stream;
    bool finished;
  };

  [[nodiscard]] DeviceResult<uint64_t> next_range(int64_t bytes);
  // A failure that was ordered for this call, or out of memory.
  [[nodiscard]] bool refused(int64_t bytes, DeviceFailure& failure);

  int64_t total_, free_;
  uint64_t next_address_ = kFirstAddress;
  std::vector<uint64_t> ranges_;
  std::map<EventHandle, Event> events_;
  EventHandle next_event_ = 0;
  int64_t until_failure_ = 0;  // 0 = none ordered
  DeviceFailure ordered_failure_;
};

}  // namespace memstrata::alloc
