// The command line tool. Options only; each command has a file of its own.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "engine/cli/convert_command.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/simulate_command.h"
#include "engine/cli/summary_command.h"
#include "engine/cli/version.h"

namespace {

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

  ConvertOptions convert;
  CLI::App* convert_command = app.add_subcommand(
      "convert", "Writes a snapshot as a pickle for PyTorch's tools, as JSON or as a table");
  convert_command->add_option("FILE", convert.file, "Snapshot file; - is standard input")->required();
  convert_command->add_option("-o,--output", convert.output, "Where to write; - is standard output")
      ->required();
  convert_command->add_option("--to", convert.to, "What to write, if the name of the output does not say it")
      ->check(CLI::IsMember({"pickle", "json", "csv"}));
  convert_command->add_option("--snapshot", convert.snapshot,
                              "One of several in the file: its name or number");
  convert_command->add_option("--table", convert.table, "Rows of a csv")
      ->check(CLI::IsMember({"events", "blocks"}));
  convert_command->add_flag("--hex-addresses", convert.hex_addresses,
                            "Addresses in JSON as texts: many programs lose digits of large integers");
  convert_command->add_flag("--json", convert.json, "The report as a JSON object");

  SimulateOptions simulation;
  CLI::App* simulate_command =
      app.add_subcommand("simulate", "Runs a script of allocations through the caching allocator");
  simulate_command->add_option("SCRIPT", simulation.script, "File with the steps; - is standard input")
      ->required();
  simulate_command->add_option("--device", simulation.device_bytes, "Memory of the device in bytes")
      ->capture_default_str();
  simulate_command->add_option("--conf", simulation.conf, "Settings as in PYTORCH_CUDA_ALLOC_CONF");
  simulate_command->add_option("--dump", simulation.dump,
                               "Write the snapshot at the end to this file (pickle)");
  simulate_command->add_flag("--json", simulation.json, "One JSON object; see engine/simulate/report.h");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kWrongUsage;
  }
  if (convert_command->parsed()) return run_convert(convert);
  return simulate_command->parsed() ? run_simulate(simulation) : run_summary(summary);
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
