// Facts of one device: what a thousand ranks are compared by (engine/fleet/README.md has every key).
//
// Small, whatever the file is: numbers, the largest stacks at the peak, steps, a curve of kCurveColumns columns. The same
// recording gives the same facts, on any machine.
// O(events log events).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/analysis/device/device.h"
#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/fragmentation.h"
#include "engine/analysis/live/top.h"
#include "engine/analysis/report/overview.h"
#include "engine/analysis/steps/leaks.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostFactStacks = 200;
inline constexpr int32_t kMostFactSteps = 1000;
inline constexpr size_t kCurveColumns = 256;

// Bytes are requested ones, of states after an event of the step.
struct FactStep {
  int32_t step = 0;  // counted from 0
  std::optional<int64_t> first_us;
  int64_t peak = 0, end = 0;
};

// The most of each column; a column without an event has what the one before ended with.
struct FactCurve {
  std::optional<int64_t> from_us, to_us;  // none: the columns are of events
  std::array<int64_t, kCurveColumns> allocated{}, reserved{};
};

struct Facts {
  explicit Facts(Budget& budget) : overview(budget), peak(budget) {}

  Overview overview;
  Top peak;  // by stacks as they are shown, at most kMostFactStacks
  // None: a profiler told it, and not that.
  std::optional<int64_t> end_reserved, end_allocated;
  std::optional<Fragmentation> fragmentation;
  int32_t step_count = 0;
  std::vector<FactStep> steps;  // at most kMostFactSteps, evenly chosen
  Leaks leaks;
  FactCurve curve;
  std::optional<int64_t> first_us, last_us;
};

// `device` is the same one. Error: limit_exceeded.
[[nodiscard]] Result<Facts> find_facts(const EventContext& context, Device& device);

}  // namespace gpustrata::analysis
