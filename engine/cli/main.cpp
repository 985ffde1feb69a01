// The command line tool. Options only; each command has a file of its own.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "engine/cli/exit_codes.h"
#include "engine/cli/memory_commands.h"
#include "engine/cli/simulate_command.h"
#include "engine/cli/state_command.h"
#include "engine/cli/summary_command.h"
#include "engine/cli/version.h"

namespace {

// What every command about one file takes.
void add_choice(CLI::App& command, memstrata::cli::FileChoice& choice) {
  command.add_option("FILE", choice.file, "Snapshot file; - is standard input")->required();
  command.add_option("--device", choice.device, "Ordinal, or host; default: the longest trace");
  command.add_option("--snapshot", choice.snapshot, "Name or index, where a file holds several");
  command.add_flag("--json", choice.json, "One JSON object on one line");
}

int run(int argc, char** argv) {
  using namespace memstrata::cli;
  CLI::App app("Reads memory snapshots of PyTorch's CUDA caching allocator.", "memstrata");
  app.set_version_flag("--version", fmt::format("memstrata {}", kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success (also for a damaged file of which something was read), 1 wrong usage,\n"
      "2 a file could not be read (the others are still printed) or a step of a script is wrong.");

  SummaryOptions summary;
  CLI::App* summary_command = app.add_subcommand(
      "summary", "Peak, sizes, events, stacks and time span per device, and what was lost");
  summary_command->add_option("FILE", summary.files, "Snapshot files; - is standard input")->required();
  summary_command->add_flag("--json", summary.json, "One JSON object per file and line");

  StateOptions state;
  CLI::App* state_command = app.add_subcommand("state", "Segments and blocks after an event of the trace");
  add_choice(*state_command, state.choice);
  state_command
      ->add_option("--event", state.events,
                   "Index in the trace, or several with commas; -1 = before the first")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();

  SimulateOptions simulation;
  CLI::App* simulate_command =
      app.add_subcommand("simulate", "Runs a script of allocations through the caching allocator");
  simulate_command->add_option("SCRIPT", simulation.script, "File with the steps; - is standard input")
      ->required();
  simulate_command->add_option("--device", simulation.device_bytes, "Memory of the device in bytes")
      ->capture_default_str();
  simulate_command->add_option("--conf", simulation.conf, "Settings as in PYTORCH_CUDA_ALLOC_CONF");
  simulate_command->add_flag("--json", simulation.json, "One JSON object; see engine/simulate/report.h");

  StatsOptions stats;
  CLI::App* stats_command = app.add_subcommand("stats", "Segments as bars, and sums");
  add_choice(*stats_command, stats.choice);
  stats_command->add_option("--at", stats.at, "peak, end, start, or an event")->capture_default_str();

  TraceOptions trace;
  CLI::App* trace_command = app.add_subcommand("trace", "The events as a program");
  add_choice(*trace_command, trace.choice);

  FlameGraphOptions flames;
  CLI::App* flames_command = app.add_subcommand("flamegraph", "Memory by stack, as SVG or folded lines");
  add_choice(*flames_command, flames.choice);
  flames_command->add_option("--at", flames.at, "peak, end, start, or an event")->capture_default_str();
  flames_command->add_option("-o,--output", flames.output, "File to write; default: standard output");
  flames_command->add_flag("--segments", flames.segments, "Segments between stream and state");
  flames_command->add_flag("--folded", flames.folded, "Lines 'stack bytes' instead of a picture");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kWrongUsage;
  }
  if (simulate_command->parsed()) return run_simulate(simulation);
  if (state_command->parsed()) return run_state(state);
  if (stats_command->parsed()) return run_stats(stats);
  if (trace_command->parsed()) return run_trace(trace);
  if (flames_command->parsed()) return run_flamegraph(flames);
  return run_summary(summary);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("memstrata: out of memory\n", stderr);
    return memstrata::cli::kUnreadable;
  }
}
