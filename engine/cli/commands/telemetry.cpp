// gpustrata telemetry FILE|FOLDER [--json]

#include <new>
#include <string>

#include "engine/analysis/series/telemetry.h"
#include "engine/answers/series/telemetry.h"
#include "engine/answers/text/json_of.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/folder.h"
#include "engine/cli/input/input.h"
#include "engine/cli/options.h"

namespace gpustrata::cli {

namespace {

struct TelemetryOptions {
  std::string path;
  bool json = false;
};

[[nodiscard]] Outcome<void> read(const TelemetryOptions& options, model::Recording& recording,
                                 const Console& console) {
  if (is_folder(options.path)) return read_folder(options.path, recording);
  return read_recording(options.path, recording, console);
}

[[nodiscard]] Outcome<void> answer(const TelemetryOptions& options, const Console& console,
                                   answers::TextOut& out) {
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
  if (!options.json) {
    answers::to_text(out, recording, *telemetry, options.path, console.columns);
    return {};
  }
  answers::json_line(out, answers::TelemetryLine{options.path, recording, *telemetry});
  return {};
}

// The exit code: 0; 2 if the file could not be read, or holds no counters.
int run_telemetry(const TelemetryOptions& options, const Console& console) {
  answers::TextOut out(console.out);
  Outcome<void> answered;
  try {
    answered = answer(options, console, out);
  } catch (const std::bad_alloc&) {
    answered = failure(name_of(ErrorCode::limit_exceeded), options.path, "This file needs too much memory.");
  }
  if (const Status written = out.finish(); !written) return tell_unwritten(console);
  return answered ? kSuccess : tell(answered.error(), options.json, console);
}

}  // namespace

void add_telemetry(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "telemetry", "Counters over time and profiled functions, of gpumemprof or Stormlog",
          run_telemetry);
  command
      ->add_option("FILE", options->path,
                   "Export (JSON, CSV), or the folder of a bundle; - is standard input")
      ->required();
  command->add_flag("--json", options->json, "One JSON object on one line");
}

}  // namespace gpustrata::cli
