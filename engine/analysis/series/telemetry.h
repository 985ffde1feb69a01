// Counters of an allocator, sampled, and calls of profiled functions: peaks by device, sums by function, and what is odd
// about them, by stated rules; beside them the flags that a bundle of gpumemprof raises.
//
// The rules. A sample knows nothing of what came and went between two of them, so these are hints:
//   out_of_memory   the file says so: a bundle written on it, what the allocator counted, or samples of that kind
//   leak            a function called at least 3 times that kept memory in at least 2 of 3 calls, and in sum
//   growth          8 samples of a device at least: the lowest level of each quarter of them is above that of the quarter
//                   before, and from the first to the last by at least 1 MiB and 5 % of the peak
//   gap             device memory in use that the allocator has not reserved: at least 5 % of the device at some sample
//   gap_unknown     that cannot be known: "used" is what the allocator says in every sample
//   fragmentation   of reserved memory at least 30 % is not allocated in the mean over the samples, and 64 MiB at most
//   alerts          samples that the profiler itself marked as a warning or as critical
// Flags of a diagnose bundle (gpumemprof's names): oom_occurred, high_utilization, fragmentation_warning, else risk_detected.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/model/diagnostics.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct TelemetryDevice {
  int32_t device = model::kUnknownDevice;  // -1 = CPU
  int64_t samples = 0;
  // Also of the calls' own levels; none = the file has none.
  std::optional<int64_t> peak_allocated, peak_reserved;
};

struct TelemetryFunction {
  std::string_view name;
  int64_t calls = 0;
  double total_seconds = 0;
  // None: no call of it says so.
  std::optional<int64_t> net_bytes;
  std::optional<int64_t> peak_bytes;             // highest level during a call
  std::optional<int64_t> peak_over_entry_bytes;  // the most above the level at entry
  int64_t growing_calls = 0;                     // that kept memory
};

// The last four are flags of gpumemprof.
GPUSTRATA_WORDS(TelemetryFindingKind, out_of_memory, leak, growth, gap, gap_unknown, fragmentation, alerts,
                oom_occurred, high_utilization, fragmentation_warning, risk_detected);

struct TelemetryFinding {
  using Kind = TelemetryFindingKind;
  Kind kind = Kind::alerts;
  model::Severity severity = model::Severity::warning;
  int32_t device = model::kUnknownDevice;
  std::string_view text;      // a function; what the file says
  int64_t bytes = 0;          // of what the finding is about
  int64_t count = 0, of = 0;  // samples or calls
  double ratio = 0;           // share, or bytes each second
  int64_t time = model::kNoTime;

  [[nodiscard]] bool is_flag() const { return kind >= Kind::oom_occurred; }
};

struct Telemetry {
  int64_t samples = 0;
  std::vector<TelemetryDevice> devices;      // ascending; unknown first
  std::vector<TelemetryFunction> functions;  // by first appearance
  std::vector<TelemetryFinding> findings;    // ours first
};

// Does a part hold counters?
[[nodiscard]] bool has_telemetry(const model::Recording& recording);

// Of all parts whose series are counters. O(n log n). Error: limit_exceeded.
[[nodiscard]] Result<Telemetry> telemetry(const model::Recording& recording);

}  // namespace gpustrata::analysis
