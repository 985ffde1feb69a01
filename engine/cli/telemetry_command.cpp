#include "engine/cli/telemetry_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <vector>

#include "engine/analysis/summary.h"
#include "engine/analysis/telemetry.h"
#include "engine/answers/summary.h"
#include "engine/answers/telemetry.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/finding_lines.h"
#include "engine/cli/fitted.h"
#include "engine/cli/folder.h"
#include "engine/cli/input.h"
#include "engine/cli/label_rows.h"
#include "engine/cli/printable.h"
#include "engine/cli/text_out.h"

namespace memstrata::cli {

namespace {

constexpr size_t kMostFunctions = 30;  // in words; --json has all

void write_devices(std::string& out, const analysis::Telemetry& telemetry, size_t columns) {
  for (const analysis::TelemetryDevice& device : telemetry.devices) {
    out += device.device == model::kUnknownDevice ? "\n  Device not named\n"
           : device.device < 0                    ? std::string("\n  CPU\n")
                                                  : fmt::format("\n  Device {}\n", device.device);
    LabelRows rows;
    rows.text("samples", count_text(device.samples));
    rows.size("allocated peak", device.peak_allocated, "of what was sampled");
    if (device.peak_reserved > 0) rows.size("reserved peak", device.peak_reserved);
    rows.write(out, columns);
  }
}

void write_functions(std::string& out, const analysis::Telemetry& telemetry, size_t columns) {
  if (telemetry.functions.empty()) return;
  out += fmt::format("\n  {:>7}  {:>9}  {:>10}  {:>9}  {:>10}  function\n", "calls", "mean time", "net",
                     "peak", "over entry");
  constexpr size_t kBeside = 57;
  const size_t room = columns > kBeside + 15 ? columns - kBeside : 15;
  size_t shown = 0;
  for (const analysis::TelemetryFunction& function : telemetry.functions) {
    if (shown++ == kMostFunctions) {
      out += fmt::format("  ({} more; --json has all)\n",
                         count_text(static_cast<int64_t>(telemetry.functions.size() - kMostFunctions)));
      return;
    }
    const double mean_us = 1e6 * function.total_seconds / static_cast<double>(function.calls);
    const bool is_time = mean_us >= 0 && mean_us < 9e18;
    out += fmt::format("  {:>7}  {:>9}  {:>10}  {:>9}  {:>10}  {}\n", count_text(function.calls),
                       is_time ? duration_text(static_cast<int64_t>(mean_us)) : "-",
                       (function.net_bytes > 0 ? "+" : "") + size_text(function.net_bytes),
                       size_text(function.peak_bytes), size_text(function.peak_over_entry_bytes),
                       fitted(shortened(function.name, 4 * room), room));
  }
}

void write_findings(std::string& out, const analysis::Telemetry& telemetry, size_t columns) {
  const auto list = [&](std::string_view heading, bool originals) {
    bool any = false;
    for (const analysis::TelemetryFinding& finding : telemetry.findings) {
      if (finding.is_original() != originals) continue;
      if (!any) out += fmt::format("\n  {}\n", heading);
      any = true;
      const std::string label = fmt::format("    {:<20} ", answers::name_of(finding.kind));
      const std::string text = shortened(answers::text_of(finding), 1000);
      std::vector<std::string> words = words_of(text);
      for (std::string& word : words) word = fitted(word, std::max(columns, 2 * label.size()) - label.size());
      out += label + wrapped(words, columns, label.size()) + "\n";
    }
    if (!any && !originals) out += "\n  Nothing is odd by the rules of memstrata.\n";
  };
  list("What is odd", false);
  list("What gpumemprof says of the same numbers", true);
}

[[nodiscard]] Outcome<void> read(const TelemetryOptions& options, model::Recording& recording,
                                 const Console& console) {
  if (is_folder(options.path)) return read_folder(options.path, recording);
  return read_recording(options.path, recording, console);
}

[[nodiscard]] Outcome<void> answer(const TelemetryOptions& options, const Console& console, TextOut& out) {
  Budget budget(console.budget_bytes);
  model::Recording recording(budget);
  if (auto done = read(options, recording, console); !done) return done;
  if (!analysis::has_telemetry(recording)) {
    return failure(
        name_of(ErrorCode::unsupported), options.path,
        "There are no counters over time in this file. gpumemprof and Stormlog write them with track "
        "--output, monitor --output and diagnose.");
  }
  const auto telemetry = analysis::telemetry(recording);
  if (!telemetry) return failure(telemetry.error(), options.path);
  const auto findings = analysis::findings(recording.diagnostics);
  if (!options.json) {
    std::string text = fmt::format("{}\n  {}, {} samples\n", printable(options.path),
                                   printable(recording.format), count_text(telemetry->samples));
    write_devices(text, *telemetry, console.columns);
    write_functions(text, *telemetry, console.columns);
    write_findings(text, *telemetry, console.columns);
    if (!findings.empty()) text += "\n  Noticed while reading\n" + finding_lines(findings, Remarks::shown);
    out.add(text);
    return {};
  }
  JsonWriter json;
  json.begin_object();
  json.member("file", std::string_view(options.path));
  json.member("format", std::string_view(recording.format));
  if (const Status written = answers::to_json(json, recording, *telemetry); !written)
    return failure(written.error(), options.path);
  json.key("diagnostics");
  answers::findings_to_json(json, findings);
  json.end_object();
  out.end_line(std::move(json));
  return {};
}

}  // namespace

int run_telemetry(const TelemetryOptions& options, const Console& console) {
  TextOut out(console.out);
  Outcome<void> answered;
  try {
    answered = answer(options, console, out);
  } catch (const std::bad_alloc&) {
    answered = failure(name_of(ErrorCode::limit_exceeded), options.path, "This file needs too much memory.");
  }
  if (const Status written = out.finish(); !written) return tell_unwritten(console);
  return answered ? kSuccess : tell(answered.error(), options.json, console);
}

}  // namespace memstrata::cli
