// The rules behind telemetry.h's findings, on plain numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/analysis/series/telemetry.h"

namespace gpustrata::analysis {

// A sample of a device; kNoValue where the file has none.
struct TelemetrySample {
  int64_t time = model::kNoTime;  // nanoseconds
  int64_t allocated = 0;
  int64_t reserved = model::kNoValue;
  int64_t device_used = model::kNoValue;
  int64_t device_total = model::kNoValue;
};

using Findings = std::vector<TelemetryFinding>;

void find_in_samples(int32_t device, std::span<const TelemetrySample> samples, Findings& findings);
void find_in_calls(const TelemetryFunction& function, Findings& findings);

}  // namespace gpustrata::analysis
