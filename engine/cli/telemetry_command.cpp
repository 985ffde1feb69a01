#include "engine/cli/telemetry_command.h"

#include <new>

#include "engine/analysis/telemetry.h"
#include "engine/answers/json_of.h"
#include "engine/answers/telemetry.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/folder.h"
#include "engine/cli/input.h"

namespace gpustrata::cli {

namespace {

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

}  // namespace

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

}  // namespace gpustrata::cli
