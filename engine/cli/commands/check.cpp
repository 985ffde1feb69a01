// gpustrata check FILE [--max-peak 20GiB] [--max-reserved ...] [--no-oom] [--no-leak] [--max-fragmentation 0.2]
//                      [--baseline BEFORE --max-growth 2%] [--junit FILE] [--device N] [--json]

#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/report/check.h"
#include "engine/answers/report/check.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/printable.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/ascii.h"
#include "engine/base/markup.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/cli/output/output_file.h"
#include "engine/cli/sizes.h"

namespace gpustrata::cli {

namespace {

struct CheckOptions {
  std::string file, baseline, junit;
  analysis::CheckRules rules;
  std::optional<int32_t> device;
  bool json = false;
};

using analysis::CheckedRule;

using Peaks = std::map<std::pair<std::string, int32_t>, analysis::Baseline>;  // of snapshot and device

[[nodiscard]] Peaks peaks_of(const model::Recording& recording, Status& failed) {
  Peaks peaks;
  for (const model::Part& part : recording.parts) {
    const analysis::Ending ending = analysis::find_ending(recording, part);
    for (const int32_t device : part.devices(recording.segments)) {
      const auto lives = replay::find_block_lives(recording, part, device);
      if (!lives) {
        failed = tl::unexpected(lives.error());
        return peaks;
      }
      const auto overview = analysis::find_overview(recording, part, *lives);
      if (!overview) {
        failed = tl::unexpected(overview.error());
        return peaks;
      }
      const auto doubt = analysis::doubt_of_peak(*overview, ending, recording.diagnostics.incomplete(),
                                                 static_cast<double>(lives->peak_level));
      peaks[{part.name, device}] = {lives->peak_level, doubt == analysis::Undecided::no};
    }
  }
  return peaks;
}

class Checking {
 public:
  Checking(const CheckOptions& options, const Console& console, answers::TextOut& out)
      : options_(options), console_(console), out_(out) {}

  [[nodiscard]] Outcome<void> run(const model::Recording& recording, const Peaks* baseline) {
    bool any_device = false;
    for (const model::Part& part : recording.parts) {
      for (const int32_t device : part.devices(recording.segments)) {
        if (options_.device && *options_.device != device) continue;
        any_device = true;
        auto opened = open_device(recording, {&part, device});
        if (!opened) return failure(opened.error(), options_.file);
        const auto report = analysis::find_report(opened->context, *opened->device);
        if (!report) return failure(report.error(), options_.file);
        std::optional<analysis::Baseline> before;
        if (baseline != nullptr) before = peak_before(*baseline, {part.name, device});
        if (baseline != nullptr && !before)
          return failure(name_of(ErrorCode::wrong_usage), options_.baseline,
                         fmt::format("The baseline has no device {}: its growth cannot be checked.", device));
        add(analysis::check_device(*report, options_.rules, recording.diagnostics.incomplete(), before));
      }
    }
    if (!any_device)
      return failure(name_of(ErrorCode::wrong_usage), options_.file,
                     options_.device ? fmt::format("There is no device {} in this file.", *options_.device)
                                     : std::string("No device of this file has a segment or an event."));
    return write(recording);
  }
  // None: no rule is broken, but one at least could not be checked.
  [[nodiscard]] std::optional<bool> kept() const {
    if (broken_ > 0) return false;
    return unknown_ > 0 ? std::nullopt : std::optional(true);
  }

 private:
  // Of the same device; where both files have one only, of that.
  [[nodiscard]] static std::optional<analysis::Baseline> peak_before(
      const Peaks& peaks, const std::pair<std::string, int32_t>& device) {
    const auto found = peaks.find(device);
    if (found != peaks.end()) return found->second;
    return peaks.size() == 1 ? std::optional(peaks.begin()->second) : std::nullopt;
  }

  void add(const std::vector<CheckedRule>& rules) {
    for (const CheckedRule& rule : rules) {
      rules_.push_back(rule);
      const bool is_decided = rule.undecided == analysis::Undecided::no;
      broken_ += is_decided && !rule.kept ? 1 : 0;
      unknown_ += is_decided ? 0 : 1;
    }
  }

  [[nodiscard]] Outcome<void> write(const model::Recording& recording) {
    if (options_.json) {
      answers::json_line(out_, answers::CheckLine{recording, options_.file, kept(), rules_});
    } else {
      for (const CheckedRule& rule : rules_)
        out_.add(answers::printable(answers::check_line(recording, rule)) + "\n");
    }
    if (options_.junit.empty()) return {};
    const std::string inputs[] = {options_.file, options_.baseline};
    const auto written = write_answer(options_.junit, inputs, console_, [&](answers::TextOut& out) {
      out.print(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"gpustrata check\" tests=\"{}\" "
          "failures=\"{}\" errors=\"{}\">\n",
          rules_.size(), broken_, unknown_);
      for (const CheckedRule& rule : rules_) out.add(answers::junit_case(recording, rule, options_.file));
      out.add("</testsuite>\n");
    });
    return written ? Outcome<void>() : tl::unexpected(written.error());
  }

  const CheckOptions& options_;
  const Console& console_;
  answers::TextOut& out_;
  std::vector<CheckedRule> rules_;
  int64_t broken_ = 0, unknown_ = 0;
};

// The exit code: 0 all rules are kept; 3 one is broken; 1 wrong usage; 2 a file could not be read or written.
int run_check(const CheckOptions& options, const Console& console) {
  const auto wrong = [&](std::string message) {
    return tell(failure(name_of(ErrorCode::wrong_usage), options.file, std::move(message)).value(),
                options.json, console);
  };
  if (!options.rules.any()) return wrong("Name a rule to check, --max-peak for one; --help lists them.");
  if (options.rules.max_growth.has_value() != !options.baseline.empty())
    return wrong("--max-growth and --baseline belong together.");
  std::optional<bool> kept = true;
  const auto check = [&](const model::Recording& recording, answers::TextOut& out, const Peaks* baseline) {
    Checking checking(options, console, out);
    auto done = checking.run(recording, baseline);
    kept = checking.kept();
    return done;
  };
  FileChoice choice;
  choice.file = options.file;
  choice.json = options.json;
  int exit_code = kSuccess;
  if (options.baseline.empty()) {
    exit_code = answer_about(choice, console, [&](const model::Recording& recording, answers::TextOut& out) {
      return check(recording, out, nullptr);
    });
  } else {
    FileChoice before = choice;
    before.file = options.baseline;
    exit_code = answer_about(
        before, choice, console,
        [&](const model::Recording& first, const model::Recording& second, answers::TextOut& out) {
          Status failed;
          const Peaks peaks = peaks_of(first, failed);
          if (!failed) return Outcome<void>(failure(failed.error(), options.baseline));
          return check(second, out, &peaks);
        });
  }
  if (exit_code != kSuccess) return exit_code;
  return !kept ? kUnchecked : *kept ? kSuccess : kBroken;
}

}  // namespace

void add_check(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "check",
          "Rules for continuous integration: exit code 3 if one is broken, 4 if one cannot be checked",
          run_check);
  command->add_option("FILE", options->file, "Snapshot file; - is standard input")->required();
  const auto add_share = [&command = *command](const char* name, std::optional<double>& into,
                                               const char* what) {
    command
        .add_option_function<std::string>(
            name,
            [name, &into](const std::string& text) {
              into = share_in(text);
              if (!into) throw CLI::ValidationError(name, "say a share as 2% or 0.02, not \"" + text + "\"");
            },
            what)
        ->type_name("SHARE");
  };
  add_size(*command, "--max-peak", options->rules.max_peak, "Most bytes requested at once, per device");
  add_size(*command, "--max-reserved", options->rules.max_reserved,
           "Most bytes reserved at once, per device");
  command->add_flag("--no-oom", options->rules.no_oom, "No request failed");
  command->add_flag("--no-leak", options->rules.no_leak, "No stack keeps more in every step");
  add_share("--max-fragmentation", options->rules.max_fragmentation,
            "Most of what is reserved that pieces hold back");
  command->add_option("--baseline", options->baseline, "Snapshot file of the run before");
  add_share("--max-growth", options->rules.max_growth, "Most growth of the peak since the baseline");
  command->add_option("--junit", options->junit, "Write the result as XML for test reports");
  command->add_option("--device", options->device, "Only this device");
  command->add_flag("--json", options->json, "One JSON object on one line");
}

}  // namespace gpustrata::cli
