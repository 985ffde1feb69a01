// A script run by the caching allocator on a simulated device, and what came of it.
//
// Deterministic: addresses grow, are 2 MiB aligned and never used again; streams are taken in ascending
// order. The same text comes out natively and in WebAssembly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"
#include "engine/base/budget.h"
#include "engine/base/status.h"
#include "engine/simulate/script.h"
#include "engine/trace/trace_event.h"

namespace memstrata::simulate {

inline constexpr int64_t kDefaultDeviceBytes = int64_t{80} << 30;
inline constexpr int64_t kLargestDevice = int64_t{1} << 50;

struct StepResult {
  const Step* step = nullptr;
  uint64_t address = 0;     // allocate: of the block; 0 = none
  int64_t block_bytes = 0;  // allocate
  bool ignored = false;     // free and record_stream of an allocation that failed
  std::string oom;          // allocate: the text of the error
};

class Simulation {
 public:
  // `sink` (may be null) hears every event, too. Errors: wrong_usage (device size, settings).
  [[nodiscard]] static Result<std::unique_ptr<Simulation>> make(int64_t device_bytes, std::string_view conf,
                                                                Budget& budget,
                                                                trace::EventSink* sink = nullptr);

  // Who asks in a step: stacks and texts for its blocks and events. Without it they have none.
  using Origins = std::function<alloc::Origin(const Step&)>;
  void set_origins(Origins origins) { origins_ = std::move(origins); }

  // Runs the steps of a script, which must outlive the simulation; once. An error stops at the step: its
  // message begins with "line N: ".
  [[nodiscard]] Status run(std::string_view script);

  [[nodiscard]] const alloc::DeviceAllocator& allocator() const { return *allocator_; }
  [[nodiscard]] alloc::DeviceAllocator& allocator() { return *allocator_; }
  [[nodiscard]] const alloc::SimulatedDevice& device() const { return device_; }
  [[nodiscard]] const std::vector<trace::TraceEvent>& events() const { return collector_.events; }
  [[nodiscard]] const std::vector<StepResult>& results() const { return results_; }
  [[nodiscard]] const std::vector<alloc::OutOfMemory>& ooms() const { return ooms_; }
  // "S1+4096": the offset in the i-th (from 0) segment or reservation in the order of creation.
  [[nodiscard]] std::string place_of(uint64_t address) const;

 private:
  struct Collector final : trace::EventSink {
    void on_event(const trace::TraceEvent& event) override {
      events.push_back(event);
      if (next != nullptr) next->on_event(event);
    }
    std::vector<trace::TraceEvent> events;
    trace::EventSink* next = nullptr;
  };

  Simulation(int64_t device_bytes, const alloc::Config& config, Budget& budget, trace::EventSink* sink);
  [[nodiscard]] Status run_step(const Step& step, StepResult& result);
  [[nodiscard]] Status allocate(const Step& step, StepResult& result);
  // Where an ID is now: null if it was never allocated or is freed.
  [[nodiscard]] Result<uint64_t*> live(const Step& step);

  [[nodiscard]] alloc::Origin origin_of(const Step& step) const {
    return origins_ ? origins_(step) : alloc::Origin{};
  }

  Collector collector_;
  Origins origins_;
  alloc::SimulatedDevice device_;
  std::unique_ptr<alloc::DeviceAllocator> allocator_;
  std::vector<Step> steps_;
  std::vector<StepResult> results_;
  std::vector<alloc::OutOfMemory> ooms_;
  std::map<std::string_view, uint64_t> live_;  // by ID; 0 = the allocation failed or was empty
};

}  // namespace memstrata::simulate
