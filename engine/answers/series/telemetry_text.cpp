#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/series/telemetry.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/label_rows.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

constexpr size_t kMostFunctions = 30;  // in words; --json has all

void write_devices(TextOut& out, const analysis::Telemetry& telemetry, size_t columns) {
  for (const analysis::TelemetryDevice& device : telemetry.devices) {
    out.add(device.device == model::kUnknownDevice ? "\n  Device not named\n"
            : device.device < 0                    ? std::string("\n  CPU\n")
                                                   : fmt::format("\n  Device {}\n", device.device));
    LabelRows rows;
    rows.text("samples", count_text(device.samples));
    if (device.peak_allocated) rows.size("allocated peak", *device.peak_allocated, "of what was sampled");
    if (device.peak_reserved) rows.size("reserved peak", *device.peak_reserved);
    rows.write(out, columns);
  }
}

[[nodiscard]] std::string text_or_dash(std::optional<int64_t> bytes) {
  return bytes ? size_text(*bytes) : "-";
}

void write_functions(TextOut& out, const analysis::Telemetry& telemetry, size_t columns) {
  if (telemetry.functions.empty()) return;
  out.print("\n  {:>7}  {:>9}  {:>10}  {:>9}  {:>10}  function\n", "calls", "mean time", "net", "peak",
            "over entry");
  constexpr size_t kBeside = 57;
  const size_t room = columns > kBeside + 15 ? columns - kBeside : 15;
  size_t shown = 0;
  for (const analysis::TelemetryFunction& function : telemetry.functions) {
    if (shown++ == kMostFunctions) {
      out.print("  ({} more; --json has all)\n",
                count_text(static_cast<int64_t>(telemetry.functions.size() - kMostFunctions)));
      return;
    }
    const double mean_us = 1e6 * function.total_seconds / static_cast<double>(function.calls);
    const bool is_time = mean_us >= 0 && mean_us < 9e18;
    out.print("  {:>7}  {:>9}  {:>10}  {:>9}  {:>10}  {}\n", count_text(function.calls),
              is_time ? duration_text(static_cast<int64_t>(mean_us)) : "-",
              (function.net_bytes.value_or(0) > 0 ? "+" : "") + text_or_dash(function.net_bytes),
              text_or_dash(function.peak_bytes), text_or_dash(function.peak_over_entry_bytes),
              fitted(shortened(function.name, 4 * room), room));
  }
}

void write_findings(TextOut& out, const analysis::Telemetry& telemetry, size_t columns) {
  const auto list = [&](std::string_view heading, bool flags) {
    bool any = false;
    for (const analysis::TelemetryFinding& finding : telemetry.findings) {
      if (finding.is_flag() != flags) continue;
      if (!any) out.print("\n  {}\n", heading);
      any = true;
      const std::string label = fmt::format("    {:<21} ", name_of(finding.kind));
      const std::string text = shortened(text_of(finding), 1000);
      std::vector<std::string> words = words_of(text);
      for (std::string& word : words) word = fitted(word, std::max(columns, 2 * label.size()) - label.size());
      out.add(label + wrapped(words, columns, label.size()) + "\n");
    }
    if (!any && !flags) out.add("\n  Nothing is odd by the rules of gpustrata.\n");
  };
  list("What is odd", false);
  list("Flags that gpumemprof raised", true);
}

}  // namespace

void to_text(TextOut& out, const model::Recording& recording, const analysis::Telemetry& telemetry,
             std::string_view path, size_t columns) {
  out.print("{}\n  {}, {}\n", printable(path), printable(recording.format),
            counted(telemetry.samples, "sample"));
  write_devices(out, telemetry, columns);
  write_functions(out, telemetry, columns);
  write_findings(out, telemetry, columns);
  noticed_reading_to_text(out, analysis::findings(recording.diagnostics));
}

}  // namespace gpustrata::answers
