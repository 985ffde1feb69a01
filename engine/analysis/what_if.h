// What if: the recorded requests of one device under other settings.
//
// First they are repeated as they were (rehearse()): how well that goes is the error of every answer. Then any scenario
// runs from the same start, in threads if the caller has them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/alloc/config.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/device.h"
#include "engine/simulate/recorded_requests.h"
#include "engine/simulate/trial.h"

namespace memstrata::analysis {

// Bytes of a device that is not known to have been full: more than any has.
inline constexpr int64_t kRoomyDevice = int64_t{1} << 44;

// What a run came to. Bytes; of a recording alloc_retries, end and active are not looked for.
struct RunNumbers {
  int64_t peak_reserved = 0;
  int64_t peak_allocated = 0;  // block sizes
  int64_t peak_active = 0;
  int64_t end_reserved = 0;
  int64_t device_allocs = 0, device_frees = 0;
  int64_t alloc_retries = 0;
  int64_t ooms = 0;
  int32_t first_oom_event = -1;  // of the device, from its first; -1 = none
  int64_t first_oom_bytes = 0;   // as asked for
};

// A device's recording, ready to be run. Refers to the device, and with it to the recording.
struct Rehearsal {
  explicit Rehearsal(const replay::Device& of, Budget& budget) : device(of), requests(budget) {}

  const replay::Device& device;
  alloc::Config config;  // the recorded settings, as far as known
  int64_t capacity = 0;  // that the device must have had for the same to happen; 0 = nothing says
  simulate::RecordedRequests requests;
  simulate::Fidelity fidelity;
  RunNumbers recorded;
  bool settings_are_known = false;  // the file has them

  [[nodiscard]] int64_t request_count() const {
    return static_cast<int64_t>(requests.log.size_rows()) - requests.present;
  }
};

// Stops a run; asked now and then. Empty = goes on.
using GoesOn = std::function<bool()>;

// Errors: wrong_usage (no history, host memory, what contradicts itself), limit_exceeded.
[[nodiscard]] Result<Rehearsal> rehearse(replay::Device& device, Budget& budget, const GoesOn& goes_on = {});

struct Scenario {
  alloc::Config config;
  int64_t capacity = 0;                 // 0 = roomy
  std::span<const int64_t> sizes = {};  // changed_sizes(); empty = as recorded
};
// Safe from several threads at once. Errors as those of simulate::try_requests().
[[nodiscard]] Result<RunNumbers> run_scenario(const Rehearsal& rehearsal, const Scenario& scenario,
                                              Budget& budget, const GoesOn& goes_on = {});

// The same as a part at the end of `recording`, the rehearsal's own, which is sealed anew: an ordinary snapshot. Errors
// also: limit_exceeded for its rows.
[[nodiscard]] Status record_scenario(const Rehearsal& rehearsal, const Scenario& scenario,
                                     model::Recording& recording);

// The settings of a text, as a program that starts with it has them. Error: wrong_usage.
[[nodiscard]] Result<alloc::Config> settings_of(std::string_view text);

// The text of the recorded settings, as far as the file has it.
[[nodiscard]] std::string settings_text(const Rehearsal& rehearsal);

// Blocks that a filter (filter_syntax.h) means get another size; 0 = they are left out. Later changes count on top.
struct Change {
  std::string filter;
  double factor = 0;
};
struct ChangedSizes {
  explicit ChangedSizes(Budget& budget) : sizes(budget) {}
  Column<int64_t> sizes;  // by request
  int64_t blocks = 0;     // that some filter meant
  int64_t unscaled = 0;   // of them those that were there from the start: they can be left out, not scaled
};
// Errors: invalid_format (a filter), wrong_usage (a factor below 0, not a number, or too large), limit_exceeded.
[[nodiscard]] Result<ChangedSizes> changed_sizes(const Rehearsal& rehearsal, std::span<const Change> changes,
                                                 Budget& budget);

// The smallest device, to 2 MiB, on which nothing is out of memory, whatever the scenario's own: found by halving,
// between what is in use at most and what a roomy device reserves, so that smaller ones in between may do, too. About 15
// runs.
[[nodiscard]] Result<int64_t> smallest_capacity(const Rehearsal& rehearsal, const Scenario& scenario,
                                                Budget& budget, const GoesOn& goes_on = {});

// Settings that are worth a try, without those that the recording had.
[[nodiscard]] std::vector<std::string> settings_to_try(const Rehearsal& rehearsal);

// What was asked, and what came of it.
struct WhatIfAnswer {
  std::string conf;       // the settings' text
  bool is_other = false;  // something is not as recorded
  int64_t capacity = 0;   // of the device; 0 = roomy
  RunNumbers simulated;
  int64_t changed_blocks = 0, unscaled_blocks = 0;
  std::optional<int64_t> smallest_capacity;  // if asked for
  struct Tried {
    std::string conf;
    RunNumbers numbers;
  };
  std::vector<Tried>
      search;  // best first: least out of memory, then least reserved, then fewest calls to the device
};
void rank(std::vector<WhatIfAnswer::Tried>& search);

}  // namespace memstrata::analysis
