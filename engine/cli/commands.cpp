#include "engine/cli/commands.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/answers/printable.h"
#include "engine/cli/anonymize_command.h"
#include "engine/cli/check_command.h"
#include "engine/cli/compare_command.h"
#include "engine/cli/convert_command.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/facts_command.h"
#include "engine/cli/fleet_command.h"
#include "engine/cli/html_command.h"
#include "engine/cli/manual.h"
#include "engine/cli/mcp_command.h"
#include "engine/cli/memory_commands.h"
#include "engine/cli/moment.h"
#include "engine/cli/ops_command.h"
#include "engine/cli/owner_command.h"
#include "engine/cli/paths.h"
#include "engine/cli/report_command.h"
#include "engine/cli/serve_command.h"
#include "engine/cli/simulate_command.h"
#include "engine/cli/state_command.h"
#include "engine/cli/summary_command.h"
#include "engine/cli/telemetry_command.h"
#include "engine/cli/top_command.h"
#include "engine/cli/tracker_command.h"
#include "engine/cli/version.h"
#include "engine/cli/whatif_command.h"

namespace gpustrata::cli {
namespace {

// Runs the chosen command; the exit code.
using Run = std::function<int(const Console&)>;
template <class Options>
using Command = int (*)(const Options&, const Console&);

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
    chosen = [options, command](const Console& console) { return command(*options, console); };
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
    chosen = [options, paths_from, command](const Console& console) {
      if (!paths_from->empty()) {
        if (auto appended = append_paths(*paths_from, options->files); !appended)
          return tell(appended.error(), false, console);
      }
      if (options->files.empty()) {
        console.note("gpustrata: name a snapshot file, or a list of them with --paths-from\n");
        return kWrongUsage;
      }
      return command(*options, console);
    };
  });
  return added;
}

// What every command about one device of one file takes.
void add_choice(
    CLI::App& command, FileChoice& choice,
    const char* device = "Ordinal, or host; default: the one out of memory, else the highest peak") {
  command.add_option("FILE", choice.file, "Snapshot file; - is standard input")->required();
  command.add_option("--device", choice.device, device);
  command.add_option("--snapshot", choice.snapshot, "Name or index, where a file holds several");
  command.add_flag("--json", choice.json, "One JSON object on one line");
}

// The moment of the answer; default: what `at` says.
void add_moment(CLI::App& command, std::string& at) {
  command.add_option("--at", at, std::string(kMomentHelp))
      ->type_name("MOMENT")
      ->capture_default_str()
      ->check([](const std::string& given) {
        return is_moment(given) ? "" : "say peak, end, start, or the index of an event";
      });
}

// What commands that group blocks take.
void add_groups(CLI::App& command, analysis::By& by, size_t& rows, bool& wide) {
  const std::map<std::string, analysis::By> groups{{"stack", analysis::By::stack},
                                                   {"line", analysis::By::line},
                                                   {"function", analysis::By::function},
                                                   {"file", analysis::By::file}};
  command
      .add_option_function<std::string>(
          "--by",
          [groups, &by](const std::string& word) {
            const auto found = groups.find(word);
            if (found == groups.end())
              throw CLI::ValidationError("--by", "say stack, line, function or file, not \"" + word + "\"");
            by = found->second;
          },
          "What blocks are grouped by: stack, line, function or file")
      ->type_name("WORD")
      ->default_str("stack");
  command.add_option("-n", rows, "Rows to show")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}));
  command.add_flag("--wide", wide, "Lines as long as they are, not cut to the terminal");
}

// A snapshot with the ops of a trace of the same run.
void add_with(CLI::App& command, WithTrace& with) {
  CLI::Option* const trace = command.add_option(
      "--with", with.trace,
      "torch.profiler trace of the same run: allocations are given the ops they happened in");
  command
      .add_option("--offset", with.wanted.offset_us,
                  "Microseconds to add to the snapshot's times, if its clock and the trace's differ")
      ->needs(trace);
}

void add_summary(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "summary",
                    "Peak, sizes, events, stacks and time span per device, and what was lost", run_summary);
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

void add_report(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "report",
                    "Answers: why it ran out, what the peak is, what leaks, what fragments", run_report);
  command->add_option("--device", options->device, "Only this device");
  command->add_option("--rules", options->rules, "File with rules of categories (see the command's README)");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

// Where the files of a job belong, where their names do not say it.
void add_origin(CLI::App& command, OriginOptions& origin) {
  command.add_option("--run", origin.run,
                     "Name of the run; default: of the folder run=NAME, of the file or the output");
  command
      .add_option("--rank", origin.rank,
                  "Rank; default: of the trace, the folder rank=N, or the file's name (rank3, rank_03)")
      ->check(CLI::Range(int64_t{0}, int64_t{INT32_MAX}));
  command.add_option("--host", origin.host, "Name of the host; default: of the folder host=NAME");
  command.add_option("--name", origin.name,
                     "Path that standard input (-) has elsewhere: run=a/rank3.pickle tells run and rank");
  command.add_option("--world-size", origin.world_size, "Number of ranks; default: of the trace")
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}));
}

void add_facts(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "facts",
                    "A line of facts per device, to compare many ranks by (gpustrata fleet)", run_facts);
  command->add_option("-o,--output", options->origin.output,
                      "File to write, in folders that are made; default: standard output");
  add_origin(*command, options->origin);
}

void add_fleet(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "fleet", "Many ranks: which one is odd, ran out of memory first, leaks, and why",
          run_fleet);
  command->add_option("PATH", options->paths, "Facts (gpustrata facts), snapshots, folders of either or both")
      ->required();
  command->add_option("-o,--output", options->output, "Write the reduced file, which the page opens");
  command->add_option("--groups", options->groups,
                      "CSV with the columns run, rank, kind, name: groups of ranks; traces say theirs");
  command->add_option("--layout", options->layout,
                      "Groups by number, those of neighbouring ranks first: tp=8,dp=4,pp=2");
  command->add_option("--title", options->title,
                      "What the page and the terminal call it; default: the paths");
  command->add_flag("--json", options->json, "The reduced file on one line");
}

void add_top(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add_for_files(app, chosen, "top", "What is alive at a moment, the largest first", run_top);
  add_moment(*command, options->at);
  add_groups(*command, options->by, options->rows, options->wide);
  command->add_option("--filter", options->filter,
                      "Only blocks that it means, as in the page: \"category:activation size>1MiB\"");
  add_with(*command, options->with);
  command->add_flag("--ops", options->with.wanted.ops_only, "With --with: stacks of ops alone")
      ->needs("--with");
  command->add_option("--device", options->device, "Only this device");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

// An option whose value is one of some words.
template <class Value>
void add_word(CLI::App& command, const char* name, const char* what,
              const std::map<std::string, Value>& words, Value& value) {
  std::string all, standard;
  for (const auto& [word, meaning] : words) {
    all += (all.empty() ? "" : ", ") + word;
    if (meaning == value) standard = word;
  }
  command
      .add_option_function<std::string>(
          name,
          [words, all, name, &value](const std::string& word) {
            const auto found = words.find(word);
            if (found == words.end())
              throw CLI::ValidationError(name, "say one of " + all + ", not \"" + word + "\"");
            value = found->second;
          },
          fmt::format("{}: {}", what, all))
      ->type_name("WORD")
      ->default_str(standard);
}

void add_ops(CLI::App& app, Run& chosen) {
  using analysis::OpBy;
  using answers::OpSort;
  const auto [command, options] = add_for_files(
      app, chosen, "ops", "What ops of a profiler's trace did with memory, with their true peaks", run_ops);
  add_word<OpsMode>(
      *command, "--mode", "Whose records an op holds: its thread's, its process's, or as PyTorch counts",
      {{"thread", OpsMode::thread}, {"span", OpsMode::span}, {"pytorch", OpsMode::pytorch}}, options->mode);
  add_word<OpBy>(*command, "--by", "What ops are grouped by",
                 {{"op", OpBy::op},
                  {"path", OpBy::path},
                  {"shape", OpBy::shape},
                  {"module", OpBy::module},
                  {"stack", OpBy::stack}},
                 options->by);
  add_word<OpSort>(*command, "--sort", "What comes first",
                   {{"net", OpSort::net},
                    {"self", OpSort::self},
                    {"gross", OpSort::gross},
                    {"peak", OpSort::peak},
                    {"at-peak", OpSort::at_peak},
                    {"freed", OpSort::freed},
                    {"at-return", OpSort::at_return}},
                   options->sort);
  command->add_option("--device", options->device, "Only this device: cpu, cuda:0");
  command->add_option("-n", options->rows, "Rows to show")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}));
  command->add_flag("--wide", options->wide, "Lines as long as they are, not cut to the terminal");
  command->add_flag("--json", options->json, "One JSON object per file and line");
}

void add_html(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "html", "One page with the viewer and the snapshot inside, which opens offline", run_html);
  command->add_option("SNAPSHOT", options->file, "Snapshot file")->required();
  command->add_option("-o,--output", options->out, "The page (default: the file's name and .html, here)");
  command->add_option("--viewer", options->viewer,
                      "gpustrata.html (default: installed or built beside this command)");
  command->add_flag("--json", options->json, "Answer as a JSON object");
}

void add_convert(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "convert",
          "Writes a file as a pickle for PyTorch's tools, as JSON, as a table, or for other viewers",
          run_convert);
  command->add_option("FILE", options->file, "Snapshot file; - is standard input")->required();
  command->add_option("-o,--output", options->output, "Where to write; - is standard output")->required();
  command->add_option("--to", options->to, "What to write, if the name of the output does not say it")
      ->check(CLI::IsMember(
          {"pickle", "json", "csv", "arrow", "parquet", "trace", "speedscope", "folded", "pprof"}));
  command->add_option("--device", options->device, "Of speedscope, folded, pprof, arrow: ordinal, or host");
  command->add_option("--at", options->at, "Of speedscope, folded, pprof. " + std::string(kMomentHelp))
      ->type_name("MOMENT");
  command->add_option("--snapshot", options->snapshot, "One of several in the file: its name or number");
  command->add_option("--table", options->table, "Rows of a csv (events, blocks) or of arrow (all)")
      ->check(CLI::IsMember({"events", "blocks", "segments", "lives", "stacks"}));
  command->add_option("--run", options->partition.run, "Of arrow: below the folder OUTPUT, run=NAME");
  command->add_option("--rank", options->partition.rank, "Of arrow: below that, rank=N")
      ->check(CLI::NonNegativeNumber);
  add_with(*command, options->with);
  command->add_flag("--hex-addresses", options->hex_addresses,
                    "Addresses in JSON as texts: many programs lose digits of large integers");
  command->add_flag("--json", options->json, "The report as a JSON object");
}

void add_anonymize(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "anonymize", "The snapshot without the words of its program, all numbers kept",
          run_anonymize);
  command->add_option("FILE", options->file, "Snapshot file; - is standard input")->required();
  command->add_option("-o,--output", options->output, "Where to write (pickle); - is standard output")
      ->required();
  command->add_flag("--json", options->json, "Answer as a JSON object");
}

void add_simulate(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "simulate", "Runs a script of allocations through the caching allocator", run_simulate);
  command->add_option("SCRIPT", options->script, "File with the steps; - is standard input")->required();
  command->add_option("--device", options->device_bytes, "Memory of the device in bytes")
      ->capture_default_str();
  command->add_option("--conf", options->conf, "Settings as in PYTORCH_CUDA_ALLOC_CONF");
  command->add_option("--dump", options->dump, "Write the snapshot at the end to this file (pickle)");
  command->add_flag("--json", options->json, "One JSON object; see engine/answers/simulation_report.h");
}

void add_state(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "state", "Segments and blocks after an event of the trace", run_state);
  add_choice(*command, options->choice);
  command
      ->add_option("--at,--event", options->at,
                   std::string(kMomentHelp) + "; several with commas are several answers")
      ->type_name("MOMENT,...")
      ->default_str("peak")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_owner(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "owner", "Who holds an address, who had it before and after, and who freed it", run_owner);
  command->add_option("ADDRESS", options->address, "Any byte, as 0x7f3c00001200 or in decimal")->required();
  add_choice(*command, options->choice,
             "Ordinal, or host; default: those that ever had the address, else the nearest");
  add_moment(*command, options->at);
}

void add_stats(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(app, chosen, "stats", "Segments as bars, and sums", run_stats);
  add_choice(*command, options->choice);
  add_moment(*command, options->at);
}

void add_trace(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(app, chosen, "trace", "The events as a program", run_trace);
  add_choice(*command, options->choice);
}

void add_flamegraph(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "flamegraph", "Memory by stack, as SVG or folded lines", run_flamegraph);
  add_choice(*command, options->choice);
  add_moment(*command, options->at);
  command->add_option("-o,--output", options->output, "File to write; default: standard output");
  command->add_flag("--segments", options->segments, "Segments between stream and state");
  command->add_flag("--folded", options->folded, "Lines 'stack bytes' instead of a picture");
}

void add_compare(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "compare", "What grew between two snapshots, the most first", run_compare);
  command->add_option("BEFORE", options->before.file, "Snapshot file; - is standard input")->required();
  command->add_option("AFTER", options->after.file, "Snapshot file")->required();
  add_moment(*command, options->at);
  add_groups(*command, options->by, options->rows, options->wide);
  command->add_option("--device", options->before.device,
                      "Ordinal, or host; default: every device that both have");
  command->add_option("--snapshot", options->before.snapshot, "Name or index, where a file holds several");
  command->add_option("--snapshot-after", options->after.snapshot, "The same of AFTER, if it is another one");
  command->add_option("-o,--output", options->output, "Flame graph (SVG) of what only one of them has");
  command->add_flag("--folded", options->folded, "The flame graph as lines 'stack bytes'");
  command->add_flag("--segments", options->segments, "In the flame graph, segments between stream and state");
  command->add_flag("--json", options->before.json, "One JSON object on one line");
}

void add_tracker(CLI::App& app, Run& chosen) {
  const auto [command, options] = add(
      app, chosen, "tracker", "Memory by operator, from statistics of PyTorch's MemoryTracker", run_tracker);
  command->add_option("FILE", options->file, "Pickle of MemoryTracker.save_stats(); - is standard input")
      ->required();
  command->add_option("OTHER", options->other, "A later one: what changed, operator by operator");
  command->add_option("--top", options->top, "Operators to list")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1'000'000'000}));
  command->add_flag("--json", options->json, "One JSON object on one line");
}

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

// An option whose value is a number of bytes: 20GiB, 500MB, 1048576.
void add_size(CLI::App& command, const char* name, std::optional<int64_t>& into, const char* what) {
  command
      .add_option_function<std::string>(
          name,
          [name, &into](const std::string& text) {
            into = size_in(text);
            if (!into) throw CLI::ValidationError(name, "say a size as 20GiB, not \"" + text + "\"");
          },
          what)
      ->type_name("SIZE");
}

void add_whatif(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "whatif", "Runs the recorded requests again under other settings", run_whatif);
  add_choice(*command, options->choice);
  command->add_option("--conf", options->conf,
                      "Settings as in PYTORCH_CUDA_ALLOC_CONF; default: the recorded ones");
  add_size(*command, "--capacity", options->capacity,
           "What the device has for this allocator; default: what the recording says, else enough");
  command
      ->add_option("--without", options->without, "Leave out the blocks that a filter means; may be repeated")
      ->type_name("FILTER")
      ->allow_extra_args(false);
  command->add_option("--scale", options->scale, "Blocks of other sizes: size>1GiB=0.5; may be repeated")
      ->type_name("FILTER=X")
      ->allow_extra_args(false);
  command
      ->add_option("--take", options->take,
                   "One more request: so many bytes (4GiB) after an event, kept or freed after another one")
      ->type_name("SIZE@EVENT[..EVENT]")
      ->allow_extra_args(false);
  command
      ->add_option("--empty-cache", options->empty_cache,
                   "Call empty_cache() after an event; may be repeated")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  command->add_flag("--no-caching", options->no_caching, "As with PYTORCH_NO_CUDA_MEMORY_CACHING=1");
  command->add_flag("--smallest", options->smallest, "The smallest device on which it fits");
  command->add_flag("--search", options->search, "Try settings that may help, and rank them");
  command->add_option("--dump", options->dump, "Write the simulated run as a snapshot to this file (pickle)");
}

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

void add_serve(CLI::App& app, Run& chosen) {
  const auto [command, options] =
      add(app, chosen, "serve", "The page over HTTP, for files beyond a browser's memory", run_serve);
  command->add_option("PATH", options->paths, "Folders and snapshot files; default: the folder one is in");
  command->add_option("--listen", options->listen, "Address and port; port 0 is a free one")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      ->add_option("--host", options->hosts, "Another name under which browsers come here; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::string>(
          "--memory",
          [&options = *options](const std::string& text) {
            const auto bytes = size_in(text);
            if (!bytes || *bytes <= 0)
              throw CLI::ValidationError("--memory", "say a size as 20GiB, not \"" + text + "\"");
            options.memory_bytes = *bytes;
          },
          "Most memory of all open files; default: three quarters of the machine's")
      ->type_name("SIZE");
  command->add_option("--sessions", options->sessions, "Most open files")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{10'000}));
  command
      ->add_option("--idle", options->idle_minutes,
                   "Minutes after which a file that nobody asks about is closed")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
  command->add_option("--viewer", options->viewer,
                      "gpustrata.html (default: installed or built beside this command)");
}

void add_mcp(CLI::App& app, Run& chosen) {
  app.add_subcommand(
         "mcp", "The questions as tools for an agent (Model Context Protocol, standard input and output)")
      ->callback([&chosen] { chosen = [](const Console& console) { return run_mcp(run, console); }; });
}

[[nodiscard]] Manual manual_of(const CLI::App& app) {
  Manual manual{std::string(kVersion), app.get_description(), app.get_footer(), {}};
  for (const CLI::App* command : app.get_subcommands({})) {
    ManualCommand& described = manual.commands.emplace_back();
    described.name = command->get_name();
    described.about = command->get_description();
    for (const CLI::Option* option : command->get_options()) {
      const bool is_flag = option->get_expected_max() == 0;
      described.options.push_back(
          {option->get_positional() ? option->get_name() : option->get_name(false, true),
           is_flag ? "" : option->get_type_name(), option->get_description()});
    }
  }
  return manual;
}

void add_manual(CLI::App& app, Run& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const command =
      app.add_subcommand("manual", "This manual as a page for man, or completions for a shell");
  command->add_option("--completions", *shell, "A script for bash, zsh or fish instead")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &chosen, shell] {
    chosen = [shell, manual = manual_of(app)](const Console& console) {
      const std::string text = shell->empty() ? man_page(manual) : completions(manual, *shell);
      return console.out.write(io::bytes_of(text)) ? kSuccess : tell_unwritten(console);
    };
  });
}

void add_commands(CLI::App& app, Run& chosen) {
  add_report(app, chosen);
  add_summary(app, chosen);
  add_top(app, chosen);
  add_ops(app, chosen);
  add_html(app, chosen);
  add_convert(app, chosen);
  add_anonymize(app, chosen);
  add_simulate(app, chosen);
  add_whatif(app, chosen);
  add_state(app, chosen);
  add_owner(app, chosen);
  add_stats(app, chosen);
  add_trace(app, chosen);
  add_flamegraph(app, chosen);
  add_compare(app, chosen);
  add_tracker(app, chosen);
  add_telemetry(app, chosen);
  add_check(app, chosen);
  add_facts(app, chosen);
  add_fleet(app, chosen);
  add_serve(app, chosen);
  add_mcp(app, chosen);
  add_manual(app, chosen);
}

// Changes of one letter that make `b` of `a`: put in, left out, another one, two swapped. Names are short.
[[nodiscard]] size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> steps(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& least = steps[i][j];
      least = i == 0 ? j : j == 0 ? i : steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      if (i > 0 && j > 0) least = std::min({least, steps[i - 1][j] + 1, steps[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

// A first word that is no command, in words; empty: it is one, or an option.
[[nodiscard]] std::string unknown_command(const CLI::App& app, std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0].empty() || arguments[0][0] == '-') return {};
  constexpr size_t kLongestName = 30;
  const std::string& given = arguments[0];
  const size_t close = given.size() < 4 ? 1 : 2;
  std::string near;
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string& name = command->get_name();
    if (name == given) return {};
    if (given.size() <= kLongestName && (distance(given, name) <= close || name.starts_with(given)))
      near += (near.empty() ? " Did you mean " : " or ") + name;
  }
  return fmt::format("gpustrata: There is no command \"{}\".{} gpustrata --help lists them.\n",
                     answers::shortened(given, 100), near.empty() ? "" : near + "?");
}

// `gpustrata FILE` is `gpustrata report FILE`.
[[nodiscard]] bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(name, ignored);
}

int parse_and_run(std::span<const std::string> arguments, const Console& console) {
  CLI::App app("Reads memory snapshots of PyTorch's CUDA caching allocator.", "gpustrata");
  app.set_version_flag("--version", fmt::format("gpustrata {}", kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success (also for a damaged file of which something was read), 1 wrong usage,\n"
      "2 a file could not be read (the others are still printed) or written, or a step of a script is wrong,\n"
      "3 check: a rule is broken, 4 check: whether one is kept cannot be told.\n"
      "gpustrata FILE is gpustrata report FILE.");
  Run chosen;
  add_commands(app, chosen);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  if (const std::string message = unknown_command(app, arguments); !message.empty()) {
    if (!is_file(arguments[0])) {
      console.note("{}", message);
      return kWrongUsage;
    }
    reversed.emplace_back("report");
  }
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, notes;
    const bool is_asked_for = app.exit(error, out, notes) == 0;  // --help, --version
    if (!notes.str().empty()) console.note("gpustrata: {}", answers::printable_lines(notes.str()));
    const bool written = console.out.write(io::bytes_of(out.str())).has_value();
    if (!written) return tell_unwritten(console);
    return is_asked_for ? kSuccess : kWrongUsage;
  }
  return chosen(console);
}

}  // namespace

int run(std::span<const std::string> arguments, const Console& console) {
  try {
    return parse_and_run(arguments, console);
  } catch (const std::bad_alloc&) {
    console.note("gpustrata: out of memory\n");
    return kFailed;
  }
}

}  // namespace gpustrata::cli
