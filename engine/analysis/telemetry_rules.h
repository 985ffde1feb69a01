// The rules behind telemetry.h's findings, on plain numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/analysis/telemetry.h"

namespace gpustrata::analysis {

// A sample of a device; kNoValue where the file has none.
struct TelemetrySample {
  int64_t time = model::kNoTime;  // nanoseconds
  int64_t allocated = 0;
  int64_t reserved = model::kNoValue;
  int64_t device_used = model::kNoValue;
  int64_t device_total = model::kNoValue;
};

struct TelemetryCall {
  int64_t start = model::kNoTime;
  int64_t after = model::kNoValue, net = model::kNoValue;
};

// y = a + slope * x; r is the correlation. None with fewer than two points, or if all x are equal.
struct Line {
  double slope = 0, r = 0;
  size_t points = 0;

  // Two-sided, of no correlation.
  [[nodiscard]] double p_value() const;
};
[[nodiscard]] std::optional<Line> fit_line(std::span<const double> x, std::span<const double> y);

using Findings = std::vector<TelemetryFinding>;

void find_in_samples(int32_t device, std::span<const TelemetrySample> samples, Findings& ours,
                     Findings& originals);
void find_in_calls(const TelemetryFunction& function, std::span<const TelemetryCall> calls, Findings& ours,
                   Findings& originals);

}  // namespace gpustrata::analysis
