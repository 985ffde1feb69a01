// What if: the recorded requests of one device under other settings.
//
// First they are repeated as they were (rehearse()): how well that goes is the error of every answer. Then any scenario
// runs from the same start, in threads if the caller has them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/alloc/config.h"
#include "engine/analysis/device/device.h"
#include "engine/analysis/findings/ending.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/replay/device.h"
#include "engine/simulate/recorded_requests.h"
#include "engine/simulate/trial.h"

namespace gpustrata::analysis {

// Bytes of a device that is not known to have been full: more than any has.
inline constexpr int64_t kRoomyDevice = int64_t{1} << 44;

// Bytes of a device on which all fits.
[[nodiscard]] int64_t roomy_device(const simulate::RecordedRequests& requests);

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
  // A request that failed is known rounded up by the recorded settings, and it depends on what it asked for whether all fits.
  bool is_unsure = false;
  std::vector<uint8_t> refused;  // by Scenario::extra: it was out of memory; counted in ooms, too
};

// A device's recording, ready to be run. Refers to the device, and with it to the recording.
struct Rehearsal {
  explicit Rehearsal(const replay::Device& of, Budget& budget) : device(of), requests(budget) {}

  const replay::Device& device;
  const replay::StateHistory* history = nullptr;  // the device's
  alloc::Config config;                           // the recorded settings, as far as known
  int64_t capacity = 0;  // that the device must have had for the same to happen; 0 = nothing says
  simulate::RecordedRequests requests;
  simulate::Fidelity fidelity;
  // Why free blocks of one size are taken in the order config.free_order.
  enum class OrderFrom : uint8_t {
    file,        // it tells the version
    repetition,  // it does not, or contradicts itself, and so the recording repeats exactly
    assumption
  };
  OrderFrom order_from = OrderFrom::assumption;
  // What was there before has numbers that no file tells (DeviceAllocator::set_adopted_numbers()).
  uint32_t unknown_numbers = 0;
  std::vector<uint32_t> start_numbers;  // as the recorded places tell them; empty = in the order of addresses
  RunNumbers recorded;
  bool settings_are_known = false;  // the file has them
  Ending ending;                    // of the part

  // Equal free blocks are taken by address, and what another run gets from the device lies elsewhere: its places, and what fits
  // between them, may be others.
  [[nodiscard]] bool addresses_decide() const { return config.free_order == alloc::FreeOrder::address; }

  [[nodiscard]] int64_t request_count() const {
    return static_cast<int64_t>(requests.log.size_rows()) - requests.present;
  }
};

// Stops a run; asked now and then. Empty = goes on.
using GoesOn = std::function<bool()>;
// From now on.
[[nodiscard]] GoesOn for_at_most(std::chrono::seconds limit);

// Errors: wrong_usage (no history, no segments, host memory, what contradicts itself), limit_exceeded.
[[nodiscard]] Result<Rehearsal> rehearse(replay::Device& device, Budget& budget, const GoesOn& goes_on = {});

// One more request, of the default pool and the stream of the allocation before it. Events are of the device.
struct ExtraRequest {
  int32_t after = 0;   // the event that it follows; -1 = before the first
  int64_t bytes = 0;   // > 0
  int32_t until = -1;  // the event that its free follows; -1 = it is kept
};

struct Scenario {
  static constexpr size_t kMostInserted = 1000;

  alloc::Config config;
  int64_t capacity = 0;                 // 0 = roomy
  std::span<const int64_t> sizes = {};  // changed_sizes(); empty = as recorded
  std::vector<ExtraRequest> extra = {};
  std::vector<int32_t> empty_cache_after = {};  // events
  bool caches = true;                           // false: simulate/uncached.h
};
// Safe from several threads at once. Errors as those of simulate::try_requests(); wrong_usage for events that are not
// there, sizes that nothing has, more than kMostInserted. `levels`: of the device's events, filled if it is there.
[[nodiscard]] Result<RunNumbers> run_scenario(const Rehearsal& rehearsal, const Scenario& scenario,
                                              Budget& budget, const GoesOn& goes_on = {},
                                              simulate::Levels* levels = nullptr);
// What the recording has.
[[nodiscard]] Status recorded_levels(const Rehearsal& rehearsal, Budget& budget, simulate::Levels& levels);

// The same as a part at the end of `recording`, the rehearsal's own: an ordinary snapshot. After an error rows of it may be
// there (Recording::back_to).
// `moments`: by event of the device, the last event of the part that stands where it is told; -1 = none yet. Errors
// also: limit_exceeded for its rows, wrong_usage for a scenario without a cache: it has no segments.
[[nodiscard]] Status record_scenario(const Rehearsal& rehearsal, const Scenario& scenario,
                                     model::Recording& recording, Column<int32_t>* moments = nullptr,
                                     const GoesOn& goes_on = {});

// The settings of a text, as a program that starts with it has them. Error: wrong_usage, with the byte at fault as offset.
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
// `of` is the device of the rehearsal. Errors: invalid_format (a filter), wrong_usage (a factor below 0, not a number, or too large), limit_exceeded.
[[nodiscard]] Result<ChangedSizes> changed_sizes(const Rehearsal& rehearsal, Device& of,
                                                 std::span<const Change> changes, Budget& budget);

// The run stays below the device that is assumed, which is `capacity`, but reserves more than the recording did, and there was a
// limit of which it is not known how much it allowed.
[[nodiscard]] bool is_limit_unknown(const Rehearsal& rehearsal, const RunNumbers& run, int64_t capacity);

// Whether the requests of a run fit a device of so many bytes (0 = roomy). None: it cannot be told, because more than that was
// reserved when the recording began, and how little would have done is not in it; RunNumbers::is_unsure; is_limit_unknown().
[[nodiscard]] std::optional<bool> fits(const Rehearsal& rehearsal, const RunNumbers& run, int64_t capacity);

// The smallest device, to 2 MiB, on which nothing is out of memory, whatever the scenario's own: found by halving,
// between what is in use at most, or was reserved before, and what a roomy device reserves, so that smaller ones in
// between may do, too. About 15 runs.
[[nodiscard]] Result<int64_t> smallest_capacity(const Rehearsal& rehearsal, const Scenario& scenario,
                                                Budget& budget, const GoesOn& goes_on = {});

// Settings that are worth a try, without those that the recording had.
[[nodiscard]] std::vector<std::string> settings_to_try(const Rehearsal& rehearsal);

// What was asked, and what came of it.
struct WhatIfAnswer {
  std::string conf;       // the settings' text
  bool is_other = false;  // something is not as recorded
  int64_t capacity = 0;   // of the device; 0 = roomy
  std::vector<ExtraRequest> extra;
  std::vector<int32_t> empty_cache_after;
  bool caches = true;
  RunNumbers simulated;
  bool asks_for_changes = false;  // of the sizes of some blocks
  int64_t changed_blocks = 0, unscaled_blocks = 0;
  std::optional<int64_t> smallest_capacity;  // if asked for
  struct Tried {
    std::string conf;
    RunNumbers numbers;
  };
  std::vector<Tried>
      search;  // best first: least out of memory, then surely so, then least reserved, then fewest calls to the device
};
void rank(std::vector<WhatIfAnswer::Tried>& search);

}  // namespace gpustrata::analysis
