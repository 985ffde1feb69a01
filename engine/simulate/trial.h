// A run of recorded requests for its numbers alone, and how well it repeats the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/alloc/stats.h"
#include "engine/simulate/levels.h"
#include "engine/simulate/recorded_requests.h"
#include "engine/simulate/runner.h"

namespace gpustrata::simulate {

// Where a run first does something that the trace does not have.
struct Deviation {
  struct Side {
    bool is_there = false;  // false: it had come to its end
    trace::Action action = trace::Action::alloc;
    int64_t bytes = 0;
    uint64_t address = 0;
    int64_t stream = 0;
  };
  Side recorded, simulated;
};

// What a run is compared with: the trace that its requests were told from.
struct Fidelity {
  int64_t requests = 0;    // allocations: handed out, or out of memory
  int64_t same_place = 0;  // of them, those that got the address they had, or failed as they did
  int64_t reserved_error_bytes =
      0;                         // largest difference of what was reserved, after an allocation or in the end
  int32_t first_deviation = -1;  // the event, from the device's first, that the run does not have; -1 = none
  Deviation deviation;           // that event, and what the run does

  [[nodiscard]] bool is_exact() const { return first_deviation < 0 && same_place == requests; }
};

struct Trial {
  alloc::MemoryStats stats;
  uint32_t unknown_numbers = 0;  // of what was there before (DeviceAllocator::adopted_count())
  int32_t first_oom = -1;        // row of the log; -1 = none
  int64_t first_oom_bytes = 0;
  std::vector<uint8_t> refused;  // by inserted request: out of memory
  Fidelity fidelity;             // if asked for
};

struct TrialInput {
  const model::Recording& recording;
  model::RowRange events;  // of the device
  const RecordedRequests& requests;
  const alloc::Config& config;
  int64_t capacity = 0;
  std::span<const int64_t> sizes = {};  // RunInput
  bool compares = false;                // a repetition; else addresses grow from the first difference on
  // Asked now and then with how many requests are done; false = stop. Empty = goes on.
  std::function<bool(int64_t)> goes_on = {};
  std::span<const Inserted> inserted = {};       // RunInput
  Levels* levels = nullptr;                      // filled, if it is there
  std::span<const uint32_t> start_numbers = {};  // RunInput
  std::vector<uint32_t>* told_numbers =
      nullptr;  // those that the recording tells, if it is there (StartNumbers)
};

// Safe from several threads at once: what is shared is read only. Errors: wrong_usage, limit_exceeded; cancelled by
// `goes_on`: limit_exceeded.
[[nodiscard]] Result<Trial> try_requests(const TrialInput& input, Budget& budget);

}  // namespace gpustrata::simulate
