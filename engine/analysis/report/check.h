// Rules that a recording must keep: `gpustrata check`, for continuous integration.
//
// Bytes of `max_peak` are requested ones, by the rule of the timeline; those of `max_reserved` are segments.
//
// A rule is kept only if the recording shows it. Where a part of the run is not in it, what is there may still be enough to
// break a rule, but not to keep it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/report/report.h"
#include "engine/base/words.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(RuleKind, max_peak, max_reserved, no_oom, no_leak, max_fragmentation, max_growth);

struct CheckRules {
  std::optional<int64_t> max_peak, max_reserved;
  bool no_oom = false, no_leak = false;
  std::optional<double> max_fragmentation;  // share of reserved (Fragmentation::share)
  std::optional<double> max_growth;         // share of the baseline's peak; 0 = none

  [[nodiscard]] bool any() const {
    return max_peak || max_reserved || no_oom || no_leak || max_fragmentation || max_growth;
  }
};

// Why a rule can be neither kept nor broken.
enum class Undecided : uint8_t {
  no,                  // it is one of them
  not_told,            // this kind of file does not say
  no_history,          // no event was recorded: only the memory when the file was written is known
  unsure_leak,         // what grows does so in few steps, not in all of them, or no longer in the last one
  events_lost,         // perhaps the oldest ones: NotRecorded::oldest_events
  incomplete,          // the file: Diagnostics::incomplete()
  not_ended,           // the program, when the file was read: Ending::is_open
  ends_out_of_memory,  // the recording, on this device or another: Ending::at_failure()
  starts_in_use,  // more was reserved when it began than a rule permits to be in use: Overview::reserved_at_start
  segments_missing,  // blocks lie in no segment, so what was reserved is not known
  no_steps,          // for a leak: nothing marks steps
  steps_of_trace,    // for a leak: a profiler's trace, whose marks are not used
  few_steps,         // fewer than kFewestGrowths
  guessed_steps,  // from what repeats, and nothing grows from one of them to the next, or not surely (kSureLeak)
  baseline,       // its peak is not known, for one of these reasons
};

// What a rule measured on one device.
struct CheckedRule {
  RuleKind kind;
  bool kept = true;
  double limit = 0;  // bytes, a number of things, or a share
  // None: the file does not say. Of a rule that is undecided: what the recording shows.
  std::optional<double> value;
  int32_t device = 0;
  int32_t event = -1;  // where; -1 = the state before the first, or nowhere
  StackId stack;       // of a leak, of a failed request, of what holds most at the peak; none = not known
  Undecided undecided = Undecided::no;  // else `kept` is false, too
  bool is_processor = false;            // Overview::is_processor
};

// The peak of the same device in another run. `peak_bytes` is what its recording shows, at least.
struct Baseline {
  int64_t peak_bytes = 0;
  bool is_known = true;
};

// Why the peak of a run may be above `most` bytes though that of its recording is not; `no`: it is not. What was reserved when the
// recording began, and was no longer in use, may have been in use before. `incomplete`: Diagnostics::incomplete().
[[nodiscard]] Undecided doubt_of_peak(const Overview& overview, const Ending& ending, bool incomplete,
                                      double most);

// Only max_growth reads the baseline.
[[nodiscard]] std::vector<CheckedRule> check_device(const Report& report, const CheckRules& rules,
                                                    bool incomplete, std::optional<Baseline> baseline);

}  // namespace gpustrata::analysis
