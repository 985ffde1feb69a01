#include "engine/answers/series/telemetry.h"

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/answers/common/parts.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::TelemetryFinding;
using Kind = TelemetryFinding::Kind;

namespace {

constexpr size_t kLongestQuote = 200;

[[nodiscard]] std::string device_text(int32_t device) {
  if (device == model::kUnknownDevice) return "The device";
  return device < 0 ? "The CPU" : fmt::format("Device {}", device);
}

[[nodiscard]] std::string rate_text(double bytes_per_second) {
  return size_text(static_cast<int64_t>(std::clamp(bytes_per_second, -9.0e18, 9.0e18))) + "/s";
}

[[nodiscard]] std::string alerts_text(const TelemetryFinding& f) {
  const int64_t warnings = f.of - f.count;
  std::string text = fmt::format("The profiler marked {} as warning and {} as critical.",
                                 counted(warnings, "sample"), counted(f.count, "sample"));
  if (!f.text.empty()) text += fmt::format(" The first says: {}", utf8::cut(f.text, kLongestQuote));
  return text;
}

[[nodiscard]] std::string text_of_flag(const TelemetryFinding& f) {
  switch (f.kind) {
    case Kind::oom_occurred:
      return fmt::format("Its flag for out of memory is raised{}.",
                         f.ratio >= 1 ? fmt::format(": {:.0f} counted by the allocator", f.ratio) : "");
    case Kind::high_utilization:
      return fmt::format("Its flag for a full device is raised: {:.1f}% are allocated (from 85% on).",
                         100 * f.ratio);
    case Kind::fragmentation_warning:
      return fmt::format("Its flag for fragmentation is raised: {:.1f}% of reserved memory (from 30% on).",
                         100 * f.ratio);
    case Kind::risk_detected:
      return "Its manifest says that it found a risk, not which.";
    default:
      return {};
  }
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::out_of_memory:
      return "out_of_memory";
    case Kind::leak:
      return "leak";
    case Kind::growth:
      return "growth";
    case Kind::gap:
      return "gap";
    case Kind::gap_unknown:
      return "gap_unknown";
    case Kind::fragmentation:
      return "fragmentation";
    case Kind::alerts:
      return "alerts";
    case Kind::oom_occurred:
      return "oom_occurred";
    case Kind::high_utilization:
      return "high_utilization";
    case Kind::fragmentation_warning:
      return "fragmentation_warning";
    case Kind::risk_detected:
      return "risk_detected";
  }
  return "unknown";
}

std::string text_of(const TelemetryFinding& f) {
  switch (f.kind) {
    case Kind::out_of_memory:
      if (f.count > 0)
        return fmt::format("Memory ran out {} before the file was written: the allocator counts it.",
                           counted(f.count, "time"));
      return f.text.empty()
                 ? fmt::format("{} ran out of memory ({}).", device_text(f.device), counted(f.of, "sample"))
                 : fmt::format("Memory ran out: {}", utf8::cut(f.text, kLongestInList));
    case Kind::leak:
      return fmt::format(
          "{} kept memory in {} of {} calls, {} in sum. What it keeps may be wanted: look at what it "
          "allocates in a snapshot.",
          utf8::cut(f.text, kLongestQuote), count_text(f.count), count_text(f.of), size_text(f.bytes));
    case Kind::growth:
      return fmt::format(
          "{}: the lowest level of each quarter of {} is above the one before, by {} in all ({}). "
          "Something is kept that is not given back.",
          device_text(f.device), counted(f.of, "sample"), size_text(f.bytes), rate_text(f.ratio));
    case Kind::gap:
      return fmt::format(
          "{}: up to {} ({:.1f}% of the device) are in use outside of PyTorch's allocator: the driver's "
          "context, libraries, other processes.",
          device_text(f.device), size_text(f.bytes), 100 * f.ratio);
    case Kind::gap_unknown:
      return fmt::format(
          "{}: what the file calls used is what the allocator holds in each of {}: the driver was not "
          "asked, so memory outside of the allocator is unknown.",
          device_text(f.device), counted(f.of, "sample"));
    case Kind::fragmentation:
      return fmt::format(
          "{}: {:.1f}% of reserved memory is not allocated in the mean over {}, at most {}. A snapshot "
          "tells whether it lies in pieces.",
          device_text(f.device), 100 * f.ratio, counted(f.of, "sample"), size_text(f.bytes));
    case Kind::alerts:
      return alerts_text(f);
    default:
      return text_of_flag(f);
  }
}

void to_json(JsonWriter& json, const analysis::Telemetry& telemetry) {
  json.member("samples", telemetry.samples);
  json.key("devices");
  json.begin_array();
  for (const analysis::TelemetryDevice& device : telemetry.devices) {
    json.begin_object();
    json.member("device", device_or_null(device.device));
    json.member("samples", device.samples);
    json.member("peak_allocated_bytes", device.peak_allocated);
    json.member("peak_reserved_bytes", device.peak_reserved);
    json.end_object();
  }
  json.end_array();
  json.key("functions");
  json.begin_array();
  for (const analysis::TelemetryFunction& function : telemetry.functions) {
    json.begin_object();
    json.member("name", in_list(function.name));
    json.member("calls", function.calls);
    json.member("total_time_s", function.total_seconds);
    json.member("net_bytes", function.net_bytes);
    json.member("peak_bytes", function.peak_bytes);
    json.member("peak_over_entry_bytes", function.peak_over_entry_bytes);
    json.end_object();
  }
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const TelemetryFinding& finding : telemetry.findings) {
    json.begin_object();
    json.member("name", name_of(finding.kind));
    json.member("by", finding.is_flag() ? "gpumemprof" : "gpustrata");
    json.member("severity", model::name_of(finding.severity));
    json.member("device", device_or_null(finding.device));
    json.member("text", text_of(finding));
    json.end_object();
  }
  json.end_array();
}

void telemetry_to_json(JsonWriter& json, const analysis::Telemetry& telemetry) {
  json.begin_object();
  to_json(json, telemetry);
  json.end_object();
}

void write_json_line(TextOut& out, const model::Recording& recording, const analysis::Telemetry& telemetry,
                     std::string_view path) {
  JsonWriter json = out.json();
  json.begin_object();
  json.member("file", path);
  json.member("format", std::string_view(recording.format));
  to_json(json, telemetry);
  json.key("diagnostics");
  to_json(json, analysis::findings(recording.diagnostics));
  json.end_object();
  out.end_line(json);
}

}  // namespace gpustrata::answers
