#include "engine/cli/commands.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>

#include "engine/cli/compare_command.h"
#include "engine/cli/convert_command.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/html_command.h"
#include "engine/cli/memory_commands.h"
#include "engine/cli/paths.h"
#include "engine/cli/printable.h"
#include "engine/cli/simulate_command.h"
#include "engine/cli/state_command.h"
#include "engine/cli/summary_command.h"
#include "engine/cli/top_command.h"

namespace memstrata::cli {
namespace {

template <class Options>
using Command = int (*)(const Options&);

// A subcommand that runs `command` with its options.
template <class Options>
struct Added {
  CLI::App* app;
  std::shared_ptr<Options> options;
};

template <class Options>
Added<Options> add(CLI::App& app, Run& chosen, const char* name, const char* what, Command<Options> command) {
  Added<Options> added{app.add_subcommand(name, what), std::make_shared<Options>()};
  added.app->callback([options = added.options, command, &chosen] {
    chosen = [options, command] { return command(*options); };
  });
  return added;
}

// The same for commands about several files (Options::files), which may also be listed in a file.
template <class Options>
Added<Options> add_for_files(CLI::App& app, Run& chosen, const char* name, const char* what,
                             Command<Options> command) {
  Added<Options> added = add(app, chosen, name, what, command);
  const auto paths_from = std::make_shared<std::string>();
  added.app->add_option("FILE", added.options->files,
                        "Snapshot files, also packed (gz, zst, zip), JSON or web pages; - is standard input");
  added.app->add_option("--paths-from", *paths_from,
                        "Read further paths from this file, one a line; - is standard input");
  added.app->callback([options = added.options, paths_from, command, &chosen] {
    chosen = [options, paths_from, command] {
      if (!paths_from->empty() && !append_paths(*paths_from, options->files)) {
        fmt::print(stderr, "memstrata: the list of paths {} cannot be read\n", printable(*paths_from));
        return kWrongUsage;
      }
      if (options->files.empty()) {
        std::fputs("memstrata: name a snapshot file, or a list of them with --paths-from\n", stderr);
        return kWrongUsage;
      }
      return command(*options);
    };
  });
  return added;
}

// What every command about one device of one file takes.
void add_choice(CLI::App& command, FileChoice& choice) {
  command.add_option("FILE", choice.file, "Snapshot file; - is standard input")->required();
  command.add_option("--device", choice.device, "Ordinal, or host; default: the longest trace");
  command.add_option("--snapshot", choice.snapshot, "Name or index, where a file holds several");
  command.add_flag("--json", choice.json, "One JSON object on one line");
}

// What commands that group blocks take.
void add_groups(CLI::App& command, analysis::TopBy& by, size_t& rows) {
  const std::map<std::string, analysis::TopBy> groups{{"stack", analysis::TopBy::stack},
                                                      {"function", analysis::TopBy::function},
                                                      {"file", analysis::TopBy::file}};
  command.add_option("--by", by, "Group by stack, function or file")
      ->transform(CLI::CheckedTransformer(groups))
      ->default_str("stack");
  command.add_option("-n", rows, "Rows to show")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}));
}

void add_summary(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "summary",
                    "Peak, sizes, events, stacks and time span per device, and what was lost", run_summary);
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

void add_top(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "top", "What is alive at a moment, the largest first", run_top);
  command
      ->add_option("--at", options->at,
                   "The moment: peak, start, end, or an event index (the state after it)")
      ->capture_default_str()
      ->check([](const std::string& at) {
        return is_moment(at) ? "" : "neither peak, start, end nor an event index";
      });
  add_groups(*command, options->by, options->rows);
  command->add_option("--device", options->device, "Only this device");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

void add_html(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "html", "One page with the viewer and the snapshot inside, which opens offline", run_html);
  command->add_option("SNAPSHOT", options->file, "Snapshot file")->required();
  command->add_option("-o,--output", options->out, "The page (default: the file's name and .html, here)");
  command->add_option("--viewer", options->viewer,
                      "memstrata.html (default: installed or built beside this command)");
  command->add_flag("--json", options->json, "Answer as a JSON object");
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
  command
      ->add_option("--event", options->events,
                   "Index in the trace, or several with commas; -1 = before the first")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
}

void add_stats(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(app, chosen, "stats", "Segments as bars, and sums", run_stats);
  add_choice(*command, options->choice);
  command->add_option("--at", options->at, "peak, end, start, or an event")->capture_default_str();
}

void add_trace(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(app, chosen, "trace", "The events as a program", run_trace);
  add_choice(*command, options->choice);
}

void add_flamegraph(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "flamegraph", "Memory by stack, as SVG or folded lines", run_flamegraph);
  add_choice(*command, options->choice);
  command->add_option("--at", options->at, "peak, end, start, or an event")->capture_default_str();
  command->add_option("-o,--output", options->output, "File to write; default: standard output");
  command->add_flag("--segments", options->segments, "Segments between stream and state");
  command->add_flag("--folded", options->folded, "Lines 'stack bytes' instead of a picture");
}

void add_compare(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "compare", "What grew between two snapshots, the most first", run_compare);
  command->add_option("BEFORE", options->before.file, "Snapshot file; - is standard input")->required();
  command->add_option("AFTER", options->after.file, "Snapshot file")->required();
  command->add_option("--at", options->at, "The moment in each: peak, end, start, or an event")
      ->capture_default_str();
  add_groups(*command, options->by, options->rows);
  command->add_option("--device", options->before.device,
                      "Ordinal, or host; default: every device that both have");
  command->add_option("--snapshot", options->before.snapshot, "Name or index, where a file holds several");
  command->add_option("--snapshot-after", options->after.snapshot, "The same of AFTER, if it is another one");
  command->add_option("-o,--output", options->output, "Flame graph (SVG) of what only one of them has");
  command->add_flag("--folded", options->folded, "The flame graph as lines 'stack bytes'");
  command->add_flag("--segments", options->segments, "In the flame graph, segments between stream and state");
  command->add_flag("--json", options->before.json, "One JSON object on one line");
}

}  // namespace

void add_commands(CLI::App& app, Run& chosen) {
  add_summary(app, chosen);
  add_top(app, chosen);
  add_html(app, chosen);
  add_convert(app, chosen);
  add_simulate(app, chosen);
  add_state(app, chosen);
  add_stats(app, chosen);
  add_trace(app, chosen);
  add_flamegraph(app, chosen);
  add_compare(app, chosen);
}

}  // namespace memstrata::cli
