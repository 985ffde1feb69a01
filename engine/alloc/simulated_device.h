// Device memory without a device: capacity, addresses that grow and are never used again, failures and the
// end of streams' work on command.
//
// Deterministic: allocation i gets the next 2 MiB aligned address, whatever was freed before. All memory is
// free at the start. Everything is O(1). With a budget, ranges and marks are charged to it; what it refuses
// is a failure of the device.
//
// Memory can be there from the start (occupy()), and an AddressSource can say where what comes lies: a recorded run is
// run again at the addresses it had.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "engine/alloc/device_memory.h"
#include "engine/alloc/live_ranges.h"
#include "engine/base/budget.h"
#include "engine/base/column.h"

namespace gpustrata::alloc {

class AddressSource {
 public:
  virtual ~AddressSource() = default;
  // Where the next allocation, or reservation of address space, of so many bytes lies; 0 = above all there were.
  [[nodiscard]] virtual uint64_t next(int64_t bytes, bool reservation) = 0;
};

class SimulatedDevice final : public DeviceMemory {
 public:
  static constexpr uint64_t kFirstAddress = uint64_t{0x7f0000000000};
  static constexpr uint64_t kAlignment = uint64_t{2} << 20;

  explicit SimulatedDevice(int64_t total_bytes) : SimulatedDevice(total_bytes, unlimited()) {}
  SimulatedDevice(int64_t total_bytes, Budget& budget)
      : budget_(budget), total_(total_bytes), free_(total_bytes), ranges_(budget), live_(budget) {}
  ~SimulatedDevice() override;

  // All work so far on the stream is finished.
  void finish(int64_t stream);
  // The n-th allocation or mapping from now (1 = the next) fails; `failure` says how.
  void fail_at(int64_t n, DeviceFailure failure);
  // Before the first allocation. An address is not taken where a range lives already, or beyond kHighestAddress.
  void take_addresses_from(AddressSource& source) { source_ = &source; }
  // A range that is there from the start, of which `reserved` >= `bytes` > 0 are address space; it ends at or below
  // kHighestAddress. The device may have too little for it: then it has none left. False: it meets a range that is
  // there, or no memory to note it.
  [[nodiscard]] bool occupy(uint64_t address, int64_t bytes, int64_t reserved);
  static constexpr uint64_t kHighestAddress = uint64_t{1} << 62;

  // Start of every allocation and reservation so far, in order: the names S0, S1, ... of simulations.
  [[nodiscard]] std::span<const uint64_t> ranges() const { return ranges_.span(); }
  [[nodiscard]] int64_t outstanding_events() const { return static_cast<int64_t>(events_.size()); }

  [[nodiscard]] DeviceMemoryInfo info() override { return {free_ < 0 ? 0 : free_, total_}; }
  [[nodiscard]] DeviceResult<uint64_t> allocate(int64_t bytes) override;
  void free(uint64_t address, int64_t bytes) override;
  [[nodiscard]] DeviceResult<uint64_t> reserve(int64_t bytes) override;
  void release(uint64_t address, int64_t bytes) override;
  [[nodiscard]] DeviceResult<void> map(uint64_t address, int64_t bytes, int64_t page_bytes) override;
  void unmap(uint64_t address, int64_t bytes, int64_t page_bytes) override;
  [[nodiscard]] DeviceResult<EventHandle> record_event(int64_t stream) override;
  [[nodiscard]] bool is_finished(EventHandle event) override;
  void wait(EventHandle event) override;
  [[nodiscard]] bool may_have_finished() override;
  void release_event(EventHandle event) override;
  void wait_for_stream(int64_t stream) override { finish(stream); }

 private:
  static constexpr int64_t kEventBytes = 128;  // of an outstanding event and its stream, about

  struct Event {
    int64_t stream;
    bool finished;
  };
  struct Stream {  // with outstanding events
    int64_t events = 0;
    EventHandle finished_before = 0;  // all events below
  };
  static Budget& unlimited();

  [[nodiscard]] DeviceResult<uint64_t> next_range(int64_t bytes, bool reservation);
  // A failure that was ordered for this call, or out of memory.
  [[nodiscard]] bool refused(int64_t bytes, DeviceFailure& failure);

  Budget& budget_;
  int64_t total_, free_;
  uint64_t next_address_ = kFirstAddress;
  Column<uint64_t> ranges_;
  AddressSource* source_ = nullptr;
  LiveRanges live_;  // if somebody else says where ranges lie
  std::unordered_map<EventHandle, Event> events_;
  std::unordered_map<int64_t, Stream> streams_;
  EventHandle next_event_ = 0;
  bool news_ = false;          // since may_have_finished() was asked
  int64_t until_failure_ = 0;  // 0 = none ordered
  DeviceFailure ordered_failure_;
};

}  // namespace gpustrata::alloc
