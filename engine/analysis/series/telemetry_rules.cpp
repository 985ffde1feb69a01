#include "engine/analysis/series/telemetry_rules.h"

#include <algorithm>
#include <cmath>

#include "engine/base/saturating.h"

namespace gpustrata::analysis {

using model::kNoValue;
using model::Severity;
using Kind = TelemetryFinding::Kind;

namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

[[nodiscard]] double number(int64_t value) { return static_cast<double>(value); }

void find_growth(int32_t device, std::span<const TelemetrySample> samples, Findings& findings) {
  constexpr size_t kFewest = 8, kQuarters = 4;
  if (samples.size() < kFewest) return;
  int64_t peak = 0;
  for (const TelemetrySample& sample : samples) peak = std::max(peak, sample.allocated);
  int64_t first = 0, before = INT64_MIN;
  for (size_t quarter = 0; quarter < kQuarters; ++quarter) {
    int64_t lowest = INT64_MAX;
    const size_t end = samples.size() * (quarter + 1) / kQuarters;
    for (size_t i = samples.size() * quarter / kQuarters; i < end; ++i)
      lowest = std::min(lowest, samples[i].allocated);
    if (lowest <= before) return;
    if (quarter == 0) first = lowest;
    before = lowest;
  }
  const int64_t growth = saturated_difference(before, first);
  if (growth < kMebibyte || number(growth) < 0.05 * number(peak)) return;
  TelemetryFinding found;
  found.kind = Kind::growth;
  found.device = device;
  found.bytes = growth;
  found.of = static_cast<int64_t>(samples.size());
  const double seconds = number(saturated_difference(samples.back().time, samples.front().time)) / 1e9;
  found.ratio = seconds > 0 ? number(growth) / seconds : 0;
  findings.push_back(found);
}

// Of reserved memory what is not allocated, in the mean over the samples.
void find_unused(int32_t device, std::span<const TelemetrySample> samples, Findings& findings) {
  constexpr double kShare = 0.3;
  constexpr int64_t kWorthIt = 64 * kMebibyte;
  TelemetryFinding found;
  found.kind = Kind::fragmentation;
  found.device = device;
  double shares = 0;
  for (const TelemetrySample& sample : samples) {
    if (sample.reserved <= 0) continue;
    const int64_t unused = saturated_difference(sample.reserved, sample.allocated);
    shares += number(unused) / number(sample.reserved);
    found.bytes = std::max(found.bytes, unused);
    ++found.of;
  }
  if (found.of == 0 || found.bytes < kWorthIt) return;
  found.ratio = shares / number(found.of);
  if (found.ratio >= kShare) findings.push_back(found);
}

void find_gap(int32_t device, std::span<const TelemetrySample> samples, Findings& findings) {
  constexpr double kShare = 0.05;
  TelemetryFinding found;
  found.kind = Kind::gap;
  found.device = device;
  bool asked_driver = false;
  for (const TelemetrySample& sample : samples) {
    if (sample.device_used == kNoValue || sample.reserved == kNoValue || sample.device_total <= 0) continue;
    const int64_t gap = saturated_difference(sample.device_used, sample.reserved);
    asked_driver = asked_driver || sample.device_used != std::max(sample.allocated, sample.reserved);
    const double share = std::abs(number(gap)) / number(sample.device_total);
    if (found.of++ > 0 && share <= found.ratio) continue;
    found.ratio = share;
    found.bytes = gap;
    found.time = sample.time;
  }
  if (found.of == 0) return;
  if (!asked_driver) {
    TelemetryFinding unknown;
    unknown.kind = Kind::gap_unknown;
    unknown.severity = Severity::info;
    unknown.device = device;
    unknown.of = found.of;
    findings.push_back(unknown);
  } else if (found.bytes > 0 && found.ratio >= kShare) {
    findings.push_back(found);
  }
}

}  // namespace

void find_in_samples(int32_t device, std::span<const TelemetrySample> samples, Findings& findings) {
  if (samples.empty()) return;
  find_growth(device, samples, findings);
  find_gap(device, samples, findings);
  find_unused(device, samples, findings);
}

void find_in_calls(const TelemetryFunction& function, Findings& findings) {
  constexpr int64_t kFewest = 3;
  const int64_t kept = function.net_bytes.value_or(0);
  if (function.calls < kFewest || function.growing_calls * 3 < function.calls * 2 || kept <= 0) return;
  TelemetryFinding found;
  found.kind = Kind::leak;
  found.text = function.name;
  found.bytes = kept;
  found.count = function.growing_calls;
  found.of = function.calls;
  findings.push_back(found);
}

}  // namespace gpustrata::analysis
