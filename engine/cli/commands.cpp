#include "engine/cli/commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "engine/cli/convert_command.h"
#include "engine/cli/simulate_command.h"
#include "engine/cli/state_command.h"
#include "engine/cli/summary_command.h"

namespace memstrata::cli {
namespace {

// A command with options of its own, run by `run`.
template <class Options>
struct Added {
  CLI::App* command;
  std::shared_ptr<Options> options;
};

template <class Options>
Added<Options> add(CLI::App& app, Run& chosen, const char* name, const char* what,
                   int (*run)(const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(name, what);
  command->callback([options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  return {command, options};
}

// What every command about one device of one file takes.
void add_choice(CLI::App& command, FileChoice& choice) {
  command.add_option("FILE", choice.file, "Snapshot file; - is standard input")->required();
  command.add_option("--device", choice.device, "Ordinal, or host; default: the longest trace");
  command.add_option("--snapshot", choice.snapshot, "Name or index, where a file holds several");
  command.add_flag("--json", choice.json, "One JSON object on one line");
}

void add_summary(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "summary", "Peak, sizes, events, stacks and time span per device, and what was lost",
          run_summary);
  command->add_option("FILE", options->files, "Snapshot files; - is standard input")->required();
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

void add_convert(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "convert", "Writes a snapshot as a pickle for PyTorch's tools, as JSON or as a table",
          run_convert);
  command->add_option("FILE", options->file, "Snapshot file; - is standard input")->required();
  command->add_option("-o,--output", options->output, "Where to write; - is standard output")->required();
  command->add_option("--to", options->to, "What to write, if the name of the output does not say it")
      ->check(CLI::IsMember({"pickle", "json", "csv"}));
  command->add_option("--snapshot", options->snapshot, "One of several in the file: its name or number");
  command->add_option("--table", options->table, "Rows of a csv")->check(CLI::IsMember({"events", "blocks"}));
  command->add_flag("--hex-addresses", options->hex_addresses,
                    "Addresses in JSON as texts: many programs lose digits of large integers");
  command->add_flag("--json", options->json, "The report as a JSON object");
}

void add_simulate(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "simulate", "Runs a script of allocations through the caching allocator", run_simulate);
  command->add_option("SCRIPT", options->script, "File with the steps; - is standard input")->required();
  command->add_option("--device", options->device_bytes, "Memory of the device in bytes")
      ->capture_default_str();
  command->add_option("--conf", options->conf, "Settings as in PYTORCH_CUDA_ALLOC_CONF");
  command->add_option("--dump", options->dump, "Write the snapshot at the end to this file (pickle)");
  command->add_flag("--json", options->json, "One JSON object; see engine/simulate/report.h");
}

void add_state(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "state", "Segments and blocks after an event of the trace", run_state);
  add_choice(*command, options->choice);
  command->add_option("--event", options->event, "Index in the trace; -1 = before the first event")
      ->required();
}

}  // namespace

void add_commands(CLI::App& app, Run& chosen) {
  add_summary(app, chosen);
  add_convert(app, chosen);
  add_simulate(app, chosen);
  add_state(app, chosen);
}

}  // namespace memstrata::cli
