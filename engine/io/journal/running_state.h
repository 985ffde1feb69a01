// The segments and live blocks of devices while events are applied to them, forwards.
//
// The writer keeps one, so that a region can begin with the state before its first event without asking the program; the reader
// goes on from the last state in the file. A device is known from its first state on. Sizes of blocks follow from requests by
// the caching allocator's rules: a request is rounded, and the free block it is served from is split unless too little would be
// left (DeviceAllocator::should_split); whether an allocator was told other rules is in its settings (`config`). Events that
// contradict the state (a free of nothing) change nothing and are counted. O(log blocks) an event. Memory is charged.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/alloc/config.h"
#include "engine/base/budget.h"
#include "engine/io/journal/records.h"

namespace gpustrata::io::journal {

class RunningState {
 public:
  explicit RunningState(Budget& budget) : budget_(budget) {}
  RunningState(const RunningState&) = delete;
  RunningState& operator=(const RunningState&) = delete;
  ~RunningState();

  struct Device {
    bool known = false;
    uint64_t events = 0;                         // so far, counted here
    std::map<uint64_t, SegmentRecord> segments;  // by address; expandable ones: each mapped range
    std::map<uint64_t, BlockRecord> blocks;      // live ones
  };

  // By the records of a state, in their order. False: the budget refuses. `begin` forgets what was there.
  void begin(uint16_t device);
  [[nodiscard]] bool add(const SegmentRecord& segment);
  [[nodiscard]] bool add(const BlockRecord& block);

  // False: the budget refuses.
  [[nodiscard]] bool apply(const EventRecord& event);

  [[nodiscard]] const std::map<uint16_t, Device>& devices() const { return devices_; }
  [[nodiscard]] int64_t contradictions() const { return contradictions_; }

  alloc::Config config;

 private:
  [[nodiscard]] bool insert(Device& device, const SegmentRecord& segment);
  [[nodiscard]] bool insert(Device& device, const BlockRecord& block);
  [[nodiscard]] bool allocate(Device& device, const EventRecord& event);
  [[nodiscard]] bool map(Device& device, const EventRecord& event);
  [[nodiscard]] bool unmap(Device& device, const EventRecord& event);
  void drop_block(Device& device, uint64_t address);
  void drop_segment(Device& device, uint64_t address);

  Budget& budget_;
  std::map<uint16_t, Device> devices_;
  int64_t contradictions_ = 0;
};

}  // namespace gpustrata::io::journal
