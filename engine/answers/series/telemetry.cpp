#include "engine/answers/series/telemetry.h"

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/common/parts.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::TelemetryFinding;
using Kind = TelemetryFinding::Kind;

namespace {

constexpr std::string_view kFinders[] = {"gpustrata", "gpumemprof"};
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

std::string_view name_of(Kind kind) { return word_for(kind); }

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

namespace {

void describe_telemetry(Members& m, const analysis::Telemetry& telemetry) {
  const auto device = [&](int32_t one) {
    m.count({"device", "-1 = the CPU; null: not known."}, device_or_null(one));
  };
  m.count("samples", telemetry.samples);
  m.list("devices", telemetry.devices, [&](const analysis::TelemetryDevice& one) {
    device(one.device);
    m.count("samples", one.samples);
    m.bytes({"peak_allocated_bytes", "Null: the file has none. So it is of the numbers of a function."},
            one.peak_allocated);
    m.bytes("peak_reserved_bytes", one.peak_reserved);
  });
  m.list("functions", telemetry.functions, [&](const analysis::TelemetryFunction& function) {
    m.text("name", [&] { return in_list(function.name); });
    m.count("calls", function.calls);
    m.number({"total_time_s", "Seconds."}, function.total_seconds);
    m.bytes("net_bytes", function.net_bytes);
    m.bytes("peak_bytes", function.peak_bytes);
    m.bytes("peak_over_entry_bytes", function.peak_over_entry_bytes);
  });
  m.list("findings", telemetry.findings, [&](const TelemetryFinding& finding) {
    m.word({"name", "Of a flag gpumemprof's own word."}, finding.kind);
    m.word("by", kFinders, kFinders[finding.is_flag() ? 1 : 0]);
    m.word("severity", finding.severity);
    device(finding.device);
    m.text("text", [&] { return text_of(finding); });
  });
}

}  // namespace

void describe(Members& m, const analysis::Telemetry& telemetry) {
  m.is("Telemetry");
  describe_telemetry(m, telemetry);
}

void describe(Members& m, const TelemetryLine& line) {
  m.line({"telemetry --json", "Counters of an allocator, and what they tell."});
  m.text("file", line.file);
  m.text("format", [&] { return line.recording.format; });
  describe_telemetry(m, m.of(line.telemetry));
  m.list("diagnostics", [&] { return analysis::findings(line.recording.diagnostics); });
}

}  // namespace gpustrata::answers
