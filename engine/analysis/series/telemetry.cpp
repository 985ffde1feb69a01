#include "engine/analysis/series/telemetry.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "engine/analysis/series/series_points.h"
#include "engine/analysis/series/telemetry_rules.h"
#include "engine/base/charge.h"
#include "engine/base/saturating.h"
#include "engine/base/string_pool.h"

namespace gpustrata::analysis {

using model::kNoValue;
using model::RowRange;
using Kind = TelemetryFinding::Kind;

namespace {

// Of one device in one part: rows of its series.
struct DeviceSeries {
  int32_t device = model::kUnknownDevice;
  RowRange allocated, reserved, used, total;
  RowRange call_before, call_peak, call_after, call_net, call_time, call_reserved;
};

[[nodiscard]] std::vector<DeviceSeries> devices_of(const model::Recording& recording,
                                                   const model::Part& part) {
  std::map<int32_t, DeviceSeries> found;
  for (int32_t row = part.series.first; row < part.series.end(); ++row) {
    const std::string_view name = recording.strings.view(recording.series.name[row]);
    const RowRange points = recording.series.points[row];
    DeviceSeries& device = found[recording.series.device[row]];
    device.device = recording.series.device[row];
    if (name == "allocated") device.allocated = points;
    if (name == "reserved") device.reserved = points;
    if (name == "device_used") device.used = points;
    if (name == "device_total") device.total = points;
    if (name == "call_before") device.call_before = points;
    if (name == "call_peak") device.call_peak = points;
    if (name == "call_after") device.call_after = points;
    if (name == "call_net") device.call_net = points;
    if (name == "call_time") device.call_time = points;
    if (name == "call_reserved") device.call_reserved = points;
  }
  std::vector<DeviceSeries> devices;
  devices.reserve(found.size());
  for (const auto& [id, device] : found) devices.push_back(device);
  return devices;
}

// The most so far; kNoValue is none.
void raise(std::optional<int64_t>& most, int64_t value) {
  if (value != kNoValue) most = std::max(most.value_or(value), value);
}

class TelemetryTelling {
 public:
  explicit TelemetryTelling(const model::Recording& recording) : rec_(recording) {}

  [[nodiscard]] Result<Telemetry> run() {
    for (const model::Part& part : rec_.parts) {
      if (part.kind != model::PartKind::series || part.series_are != model::SeriesAre::counters) continue;
      find_notes(part);
      for (const DeviceSeries& device : devices_of(rec_, part)) {
        if (!add_samples(device) || !add_calls(device)) return no_memory();
      }
    }
    // Where the flags are told, the manifest says no more.
    if (risk_detected_ && !any_flag_) flags_.push_back(flag(Kind::risk_detected));
    for (const TelemetryFunction& function : found_.functions) find_in_calls(function, found_.findings);
    std::sort(found_.devices.begin(), found_.devices.end(),
              [](const TelemetryDevice& a, const TelemetryDevice& b) { return a.device < b.device; });
    found_.findings.insert(found_.findings.end(), flags_.begin(), flags_.end());
    return std::move(found_);
  }

 private:
  [[nodiscard]] static tl::unexpected<Error> no_memory() {
    return fail(ErrorCode::limit_exceeded, -1, "The samples do not fit into memory.");
  }

  // There are few devices.
  [[nodiscard]] TelemetryDevice& device(int32_t id) {
    for (TelemetryDevice& known : found_.devices) {
      if (known.device == id) return known;
    }
    found_.devices.push_back({id, 0, {}, {}});
    return found_.devices.back();
  }

  [[nodiscard]] bool add_samples(const DeviceSeries& of) {
    const model::PointTable& points = rec_.points;
    if (of.allocated.count == 0) return true;
    if (!charge_.more(of.allocated.count * static_cast<int64_t>(sizeof(TelemetrySample)))) return false;
    TelemetryDevice& sums = device(of.device);
    std::vector<TelemetrySample> samples;
    samples.reserve(static_cast<size_t>(of.allocated.count));
    // Points of equal times come in the order of their samples; a sample may lack a counter.
    int32_t reserved = of.reserved.first, used = of.used.first, total = of.total.first;
    const auto value_at = [&](int32_t& row, RowRange rows, int64_t time) {
      while (row < rows.end() && points.time[row] < time) ++row;
      return row < rows.end() && points.time[row] == time ? points.value[row++] : kNoValue;
    };
    TelemetryFinding alerts, oom;
    for (int32_t row = of.allocated.first; row < of.allocated.end(); ++row) {
      TelemetrySample sample;
      sample.time = points.time[row];
      sample.allocated = points.value[row];
      sample.reserved = value_at(reserved, of.reserved, sample.time);
      sample.device_used = value_at(used, of.used, sample.time);
      sample.device_total = value_at(total, of.total, sample.time);
      raise(sums.peak_allocated, sample.allocated);
      raise(sums.peak_reserved, sample.reserved);
      samples.push_back(sample);
      const std::string_view label = rec_.strings.view(points.label[row]);
      if (label == "critical" || label == "warning") {
        ++alerts.of;
        alerts.count += label == "critical" ? 1 : 0;
        if (alerts.time == model::kNoTime) {
          alerts.time = sample.time;
          alerts.text = rec_.strings.view(points.note[row]);
        }
      }
      if (label == "oom" || label == "out_of_memory") ++oom.of;
    }
    sums.samples += of.allocated.count;
    found_.samples += of.allocated.count;
    if (oom.of > 0) {
      oom.kind = Kind::out_of_memory;
      oom.severity = model::Severity::error;
      oom.device = of.device;
      found_.findings.push_back(oom);
    }
    find_in_samples(of.device, samples, found_.findings);
    if (alerts.of > 0) {
      alerts.kind = Kind::alerts;
      alerts.device = of.device;
      alerts.severity = alerts.count > 0 ? model::Severity::error : model::Severity::warning;
      found_.findings.push_back(alerts);
    }
    return true;
  }

  [[nodiscard]] bool add_calls(const DeviceSeries& of) {
    const model::PointTable& points = rec_.points;
    const int32_t count = std::min({of.call_before.count, of.call_peak.count, of.call_after.count,
                                    of.call_net.count, of.call_time.count});
    if (count == 0) return true;
    TelemetryDevice& sums = device(of.device);
    for (int32_t i = 0; i < count; ++i) {
      const auto value = [&](RowRange rows) { return points.value[rows.first + i]; };
      const std::string_view name = rec_.strings.view(points.label[of.call_net.first + i]);
      const StringId id = names_.intern(name);
      if (id.is_none()) return false;
      if (id.index() == found_.functions.size()) {
        if (!charge_.more(static_cast<int64_t>(sizeof(TelemetryFunction)) * 4)) return false;
        found_.functions.push_back({name, 0, 0, {}, {}, {}, 0});
      }
      TelemetryFunction& function = found_.functions[id.index()];
      ++function.calls;
      const int64_t before = value(of.call_before), peak = value(of.call_peak), net = value(of.call_net);
      const StringId seconds = points.note[of.call_time.first + i];
      if (!seconds.is_none())
        function.total_seconds += std::strtod(std::string(rec_.strings.view(seconds)).c_str(), nullptr);
      if (net != kNoValue) {
        function.net_bytes = saturated_sum(function.net_bytes.value_or(0), net);
        function.growing_calls += net > 0 ? 1 : 0;
      }
      raise(function.peak_bytes, peak);
      if (peak != kNoValue && before != kNoValue)
        raise(function.peak_over_entry_bytes, std::max<int64_t>(saturated_difference(peak, before), 0));
      for (const int64_t level : {before, peak, value(of.call_after)}) raise(sums.peak_allocated, level);
    }
    for (int32_t row = of.call_reserved.first; row < of.call_reserved.end(); ++row)
      raise(sums.peak_reserved, points.value[row]);
    return true;
  }

  void find_notes(const model::Part& part) {
    const RowRange extras =
        rec_.extras_of(model::Owner::part, static_cast<int32_t>(&part - rec_.parts.data()));
    for (int32_t row = extras.first; row < extras.end(); ++row) {
      const std::string_view key = rec_.strings.view(rec_.extras.key[row]);
      const std::string_view value = rec_.strings.view(rec_.extras.value[row]);
      if (key == "exception_message" && value != "null") {
        TelemetryFinding found;
        found.kind = Kind::out_of_memory;
        found.severity = model::Severity::error;
        found.text = value;
        found_.findings.push_back(found);
      }
      risk_detected_ = risk_detected_ || (key == "risk_detected" && value == "true");
    }
    find_flags(extras);
  }

  [[nodiscard]] static TelemetryFinding flag(Kind kind) {
    TelemetryFinding found;
    found.kind = kind;
    return found;
  }

  // What a diagnose bundle says of the moment it was made.
  void find_flags(RowRange extras) {
    std::string_view flags;
    double ooms = 0, utilization = 0, fragmentation = 0;
    for (int32_t row = extras.first; row < extras.end(); ++row) {
      const std::string_view key = rec_.strings.view(rec_.extras.key[row]);
      const std::string_view value = rec_.strings.view(rec_.extras.value[row]);
      const auto number = [&] { return std::strtod(std::string(value).c_str(), nullptr); };
      if (key == "risk_flags") flags = value;
      if (key == "num_ooms") ooms = number();
      if (key == "utilization_ratio") utilization = number();
      if (key == "fragmentation_ratio") fragmentation = number();
    }
    if (ooms >= 1) {
      TelemetryFinding found;
      found.kind = Kind::out_of_memory;
      found.severity = model::Severity::error;
      found.count = static_cast<int64_t>(std::min(ooms, 9e18));
      found_.findings.push_back(found);
    }
    // The JSON text that the reader wrote, so without spaces.
    const auto raise_flag = [&](std::string_view name, Kind kind, double ratio) {
      if (flags.find("\"" + std::string(name) + "\":true") == std::string_view::npos) return;
      TelemetryFinding found = flag(kind);
      found.severity = kind == Kind::oom_occurred ? model::Severity::error : model::Severity::warning;
      found.ratio = ratio;
      flags_.push_back(found);
      any_flag_ = true;
    };
    raise_flag("oom_occurred", Kind::oom_occurred, ooms);
    raise_flag("high_utilization", Kind::high_utilization, utilization);
    raise_flag("fragmentation_warning", Kind::fragmentation_warning, fragmentation);
  }

  const model::Recording& rec_;
  Charge charge_{rec_.budget};
  StringPool names_{rec_.budget};
  Telemetry found_;
  Findings flags_;  // of bundles
  bool risk_detected_ = false, any_flag_ = false;
};

}  // namespace

bool has_telemetry(const model::Recording& recording) {
  return std::any_of(recording.parts.begin(), recording.parts.end(), [](const model::Part& part) {
    return part.kind == model::PartKind::series && part.series_are == model::SeriesAre::counters;
  });
}

Result<Telemetry> telemetry(const model::Recording& recording) { return TelemetryTelling(recording).run(); }

}  // namespace gpustrata::analysis
