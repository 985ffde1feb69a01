#include "engine/analysis/telemetry_rules.h"

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

// Continued fraction of the incomplete beta function (Lentz), for x < (a + 1) / (a + b + 2).
[[nodiscard]] double beta_fraction(double a, double b, double x) {
  constexpr int kMostSteps = 300;
  constexpr double kTiny = 1e-300, kClose = 1e-14;
  const auto keep = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / keep(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / keep(1 + term * d);
      c = keep(1 + term / c);
      result *= d * c;
    }
    if (std::abs(d * c - 1) < kClose) break;
  }
  return result;
}

// Regularised incomplete beta function.
[[nodiscard]] double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

[[nodiscard]] double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / number(static_cast<int64_t>(values.size()));
}

// Of a sample: divided by n - 1.
[[nodiscard]] double deviation_of(std::span<const double> values, double mean) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / number(static_cast<int64_t>(values.size() - 1)));
}

// As numpy.percentile: linear between the two nearest. `sorted` is not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double share) {
  const double at = share * number(static_cast<int64_t>(sorted.size() - 1));
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - std::floor(at)) * (sorted[high] - sorted[low]);
}

void find_growth(int32_t device, std::span<const TelemetrySample> samples, Findings& ours) {
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
  ours.push_back(found);
}

// Of reserved memory what is not allocated, in the mean over the samples. None: no sample, or below 30 %.
[[nodiscard]] std::optional<TelemetryFinding> mostly_unused(int32_t device,
                                                            std::span<const TelemetrySample> samples) {
  constexpr double kShare = 0.3;
  std::vector<double> shares;
  TelemetryFinding found;
  found.kind = Kind::fragmentation;
  found.device = device;
  for (const TelemetrySample& sample : samples) {
    if (sample.reserved <= 0) continue;
    const int64_t unused = saturated_difference(sample.reserved, sample.allocated);
    shares.push_back(number(unused) / number(sample.reserved));
    found.bytes = std::max(found.bytes, unused);
  }
  found.of = static_cast<int64_t>(shares.size());
  found.ratio = mean_of(shares);
  return shares.empty() || found.ratio < kShare ? std::nullopt : std::optional(found);
}

void find_fragmentation_like(int32_t device, std::span<const TelemetrySample> samples, Findings& originals) {
  constexpr double kCritical = 0.5, kSure = 0.6;
  auto found = mostly_unused(device, samples);
  if (!found) return;
  found->kind = Kind::fragmentation_like;
  found->severity = found->ratio > kCritical ? Severity::error : Severity::warning;
  found->confidence = std::min(found->ratio / kSure, 1.0);
  originals.push_back(*found);
}

void find_drift(TelemetryFinding found, std::vector<double> seconds, std::span<const double> gaps,
                Findings& originals) {
  constexpr size_t kFewest = 5;
  if (gaps.size() < kFewest) return;
  const double begin = seconds.front();
  for (double& second : seconds) second -= begin;
  const auto line = fit_line(seconds, gaps);
  if (!line || line->slope <= 0 || line->r * line->r < 0.6) return;
  found.kind = Kind::persistent_drift;
  found.severity = line->r * line->r > 0.85 ? Severity::error : Severity::warning;
  found.confidence = line->r * line->r;
  found.ratio = line->slope;
  originals.push_back(found);
}

void find_spikes(TelemetryFinding found, std::span<const double> gaps, Findings& originals) {
  const double mean = mean_of(gaps);
  const double deviation = deviation_of(gaps, mean);
  double highest = 0;
  for (const double gap : gaps) {
    const double z = deviation > 0 ? std::abs(gap - mean) / deviation : 0;
    found.count += z > 2 ? 1 : 0;
    highest = std::max(highest, z);
  }
  if (found.count == 0) return;
  found.kind = Kind::transient_spike;
  found.severity = highest > 4 ? Severity::error : Severity::warning;
  found.confidence = std::min(highest / 6, 1.0);
  found.ratio = highest;
  originals.push_back(found);
}

void find_gap(int32_t device, std::span<const TelemetrySample> samples, Findings& ours, Findings& originals) {
  constexpr double kShare = 0.05;
  std::vector<double> gaps, seconds;
  double widest_share = 0;
  int64_t widest = 0, at = model::kNoTime;
  bool asked_driver = false;
  for (const TelemetrySample& sample : samples) {
    if (sample.device_used == kNoValue || sample.reserved == kNoValue || sample.device_total <= 0) continue;
    const int64_t gap = saturated_difference(sample.device_used, sample.reserved);
    asked_driver = asked_driver || sample.device_used != std::max(sample.allocated, sample.reserved);
    const double share = std::abs(number(gap)) / number(sample.device_total);
    if (gaps.empty() || share > widest_share) {
      widest_share = share;
      widest = gap;
      at = sample.time;
    }
    gaps.push_back(number(gap));
    seconds.push_back(number(sample.time) / 1e9);
  }
  if (gaps.empty()) return;
  TelemetryFinding found;
  found.device = device;
  found.of = static_cast<int64_t>(gaps.size());
  if (!asked_driver) {
    found.kind = Kind::gap_unknown;
    found.severity = Severity::info;
    ours.push_back(found);
    return;  // gpumemprof sees a gap of 0, too
  }
  found.bytes = widest;
  found.ratio = widest_share;
  found.time = at;
  if (widest > 0 && widest_share >= kShare) {
    found.kind = Kind::gap;
    ours.push_back(found);
  }
  constexpr size_t kFewest = 3;
  if (gaps.size() < kFewest || widest_share < kShare) return;
  find_spikes(found, gaps, originals);
  find_drift(found, seconds, gaps, originals);
  find_fragmentation_like(device, samples, originals);
}

}  // namespace

double Line::p_value() const {
  if (points < 3) return 1;
  const double freedom = number(static_cast<int64_t>(points)) - 2;
  const double rest = 1 - r * r;
  if (rest <= 0) return 0;
  // t^2 = r^2 * freedom / rest; P(|T| > t) = I_{freedom / (freedom + t^2)}(freedom / 2, 1 / 2), and that is `rest`.
  return incomplete_beta(freedom / 2, 0.5, rest);
}

std::optional<Line> fit_line(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2 || x.size() != y.size()) return std::nullopt;
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  if (xx <= 0) return std::nullopt;
  return Line{xy / xx, yy > 0 ? xy / std::sqrt(xx * yy) : 0, x.size()};
}

void find_in_samples(int32_t device, std::span<const TelemetrySample> samples, Findings& ours,
                     Findings& originals) {
  if (samples.empty()) return;
  find_growth(device, samples, ours);
  find_gap(device, samples, ours, originals);
  constexpr int64_t kWorthIt = 64 * kMebibyte;
  if (const auto found = mostly_unused(device, samples); found && found->bytes >= kWorthIt)
    ours.push_back(*found);
}

void find_in_calls(const TelemetryFunction& function, std::span<const TelemetryCall> calls, Findings& ours,
                   Findings& originals) {
  constexpr int64_t kFewest = 3, kMany = 10;
  TelemetryFinding found;
  found.text = function.name;
  const int64_t kept_in_all = function.net_bytes.value_or(0);
  found.bytes = kept_in_all;
  found.count = function.growing_calls;
  found.of = function.calls;
  if (function.calls >= kFewest && function.growing_calls * 3 >= function.calls * 2 && kept_in_all > 0) {
    found.kind = Kind::leak;
    ours.push_back(found);
  }
  if (function.calls >= kFewest && kept_in_all > 100 * kMebibyte &&
      number(function.growing_calls) > 0.1 * number(function.calls)) {
    found.kind = Kind::memory_leak;
    found.severity = kept_in_all > 1024 * kMebibyte ? Severity::error : Severity::warning;
    originals.push_back(found);
  }
  found.severity = Severity::warning;
  // `memory_allocated` of gpumemprof: what a call kept, 0 if it gave some back.
  std::vector<double> kept, positive;
  for (const TelemetryCall& call : calls) {
    if (call.net == kNoValue) continue;
    kept.push_back(number(std::max(call.net, int64_t{0})));
    if (call.net > 0) positive.push_back(number(call.net));
  }
  if (static_cast<int64_t>(positive.size()) >= kFewest) {
    std::sort(positive.begin(), positive.end());
    const double low = quantile(positive, 0.25), high = quantile(positive, 0.75);
    const double limit = high + 1.5 * (high - low);
    found.kind = Kind::memory_spikes;
    found.count = std::count_if(kept.begin(), kept.end(), [&](double bytes) { return bytes > limit; });
    found.bytes = static_cast<int64_t>(std::min(positive.back(), 9.2e18));
    found.severity = found.count >= 5 ? Severity::error : Severity::warning;
    if (found.count > 0) originals.push_back(found);
  }
  const double mean = mean_of(kept);
  if (function.calls >= kMany && mean < 50.0 * number(kMebibyte)) {
    found.kind = Kind::repeated_allocations;
    found.severity = Severity::info;
    found.count = function.calls;
    found.bytes = static_cast<int64_t>(mean);
    originals.push_back(found);
  }
}

}  // namespace gpustrata::analysis
