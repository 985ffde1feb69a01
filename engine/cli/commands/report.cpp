// gpustrata report FILE... [--device N] [--rules FILE] [--json]

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/findings/ending.h"
#include "engine/analysis/findings/never_full.h"
#include "engine/analysis/report/report.h"
#include "engine/analysis/report/summary.h"
#include "engine/analysis/series/series_summary.h"
#include "engine/analysis/what_if/confirmed_remedies.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/report/report.h"
#include "engine/answers/report/report_text.h"
#include "engine/answers/report/summary.h"
#include "engine/answers/series/series_summary.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/printable.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::optional<int32_t> device;
  std::string
      rules;  // file with rules of categories (analysis/categories/category_rules.h); empty = those built in
  bool json = false;
};

using analysis::CategoryRules;
using analysis::Report;

// The text of a file; blank are the engine's own, of each part.
[[nodiscard]] Outcome<std::string> rules_of(const std::string& path) {
  if (path.empty()) return std::string();
  constexpr size_t kLongest = size_t{1} << 20;
  const auto text = read_text(path, kLongest, "A file of rules");
  if (!text) return tl::unexpected(text.error());
  if (const auto rules = analysis::parse_category_rules(*text); !rules)
    return failure(name_of(ErrorCode::wrong_usage), path, rules.error().message);
  return *text;
}

// A remedy that takes longer to try stays untried.
constexpr std::chrono::seconds kLongestTrial{20};

using Look = std::function<Outcome<void>(const model::Part&, const analysis::EventContext&, const Report&,
                                         const CategoryRules&)>;

// In text the one whose failure ends the recording comes first: it is what people look for.
[[nodiscard]] std::vector<int32_t> reported_devices(const model::Recording& recording,
                                                    const model::Part& part, const ReportOptions& options) {
  std::vector<int32_t> devices = part.devices(recording.segments);
  const analysis::Ending ending = analysis::find_ending(recording, part);
  const auto failed = std::find(devices.begin(), devices.end(), ending.device);
  if (!options.json && ending.at_failure() && failed != devices.end())
    std::rotate(devices.begin(), failed, failed + 1);
  return devices;
}

// Every device that is asked for; false if there is none.
[[nodiscard]] Outcome<bool> for_each_device(const std::string& file, const model::Recording& recording,
                                            const ReportOptions& options, const std::string& given,
                                            model::Diagnostics& diagnostics, const Look& look) {
  bool found = false;
  for (const model::Part& part : recording.parts) {
    for (const int32_t device : reported_devices(recording, part, options)) {
      if (options.device && *options.device != device) continue;
      found = true;
      auto opened = open_device(recording, {&part, device}, given);
      if (!opened) return failure(opened.error(), file);
      analysis::add_device_diagnostics(diagnostics, recording, opened->device->lives());
      auto report = analysis::find_report(opened->context, *opened->device);
      if (!report) return failure(report.error(), file);
      if (options.json) {
        auto never_full = analysis::find_never_full(opened->context);
        if (!never_full) return failure(never_full.error(), file);
        report->never_full = std::move(*never_full);
      }
      if (analysis::has_remedy_to_try(report->out_of_memory)) {
        const analysis::GoesOn goes_on = analysis::for_at_most(kLongestTrial);
        const auto rehearsal = analysis::rehearse(opened->device->replayed(), recording.budget, goes_on);
        if (rehearsal)
          analysis::confirm_remedies(*rehearsal, report->out_of_memory, recording.budget, goes_on);
      }
      if (auto looked = look(part, opened->context, *report, report->categories->rules); !looked)
        return tl::unexpected(looked.error());
    }
  }
  return found;
}

[[nodiscard]] Outcome<bool> write_json(const std::string& file, const model::Recording& recording,
                                       const ReportOptions& options, const std::string& given,
                                       answers::TextOut& out) {
  Outcome<bool> found;
  model::Diagnostics diagnostics = recording.diagnostics;
  const auto devices = [&](const answers::AddDevice& add) {
    found = for_each_device(file, recording, options, given, diagnostics,
                            [&](const model::Part& part, const analysis::EventContext& context,
                                const Report& report, const CategoryRules& rules) {
                              add(context, {part.name, report, rules});
                              return Outcome<void>();
                            });
  };
  answers::JsonLine json(out.json());
  to_json(json, answers::ReportLine{file, recording.format, devices, diagnostics});
  if (found) out.end_line(json);
  return found;
}

[[nodiscard]] Outcome<bool> write_text(const std::string& file, const model::Recording& recording,
                                       const ReportOptions& options, const std::string& given, size_t columns,
                                       answers::TextOut& out) {
  out.print("{}\n  {}\n", answers::printable(file), answers::printable(recording.format));
  model::Diagnostics diagnostics = recording.diagnostics;
  auto found = for_each_device(file, recording, options, given, diagnostics,
                               [&](const model::Part& part, const analysis::EventContext& context,
                                   const Report& report, const CategoryRules& rules) {
                                 out.add("\n");
                                 if (!part.name.empty())
                                   out.print("Snapshot {}\n", answers::shortened(part.name, 200));
                                 out.add(answers::report_text(context, report, rules, columns));
                                 return Outcome<void>();
                               });
  if (!found) return found;
  if (!*found && options.device) out.print("\n  There is no device {} in this file.\n", *options.device);
  if (!*found && !options.device) {
    bool any_series = false;  // of other profilers, without blocks: what their summary says
    for (const model::Part& part : recording.parts) {
      if (!part.capabilities.series) continue;
      any_series = true;
      answers::to_text(out, analysis::summarize_series(recording, part), columns);
    }
    if (!any_series)
      out.add(recording.fleets.empty() ? "\n  No device of this file has a segment or an event.\n"
                                       : answers::kFleetWords);
  }
  answers::noticed_to_text(out, analysis::findings(diagnostics));
  return found;
}

// The exit code: 0; 1 if there is no such device or the rules are wrong; 2 if any file could not be read.
int run_report(const ReportOptions& options, const Console& console) {
  const auto rules = rules_of(options.rules);
  if (!rules) return tell(rules.error(), options.json, console);
  bool all_found = true;
  const int exit_code = for_each_file(
      options.files, options.json, console,
      [&](const std::string& file, const model::Recording& recording,
          answers::TextOut& out) -> Outcome<void> {
        const auto found = options.json ? write_json(file, recording, options, *rules, out)
                                        : write_text(file, recording, options, *rules, console.columns, out);
        if (!found) return tl::unexpected(found.error());
        all_found = all_found && (*found || !options.device);
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace

void add_report(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "report",
                    "Answers: why it ran out, what the peak is, what leaks, what fragments", run_report);
  command->add_option("--device", options->device, "Only this device");
  command->add_option("--rules", options->rules, "File with rules of categories (see the command's README)");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

}  // namespace gpustrata::cli
