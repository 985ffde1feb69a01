// gpustrata convert FILE -o OUT [--to pickle|json|csv|arrow|trace|speedscope|folded|pprof] [--snapshot NAME] [--device D]
//                   [--at MOMENT] [--table events|blocks|segments|lives|stacks] [--run NAME] [--rank N]
//                   [--with TRACE [--offset MICROSECONDS]] [--hex-addresses] [--json]

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "engine/analysis/calls/flame_graph.h"
#include "engine/answers/calls/flame_graph.h"
#include "engine/answers/clients/written_file.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/exports/exported_stacks.h"
#include "engine/answers/exports/exported_trace.h"
#include "engine/answers/ops/attached_ops.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/printable.h"
#include "engine/cli/commands/all.h"
#include "engine/cli/console.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/input/input.h"
#include "engine/cli/input/with_trace.h"
#include "engine/cli/moment.h"
#include "engine/cli/one_file.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/options.h"
#include "engine/cli/output/arrow_output.h"
#include "engine/cli/output/output_file.h"
#include "engine/cli/output/partition.h"
#include "engine/io/writers/csv.h"
#include "engine/io/writers/json_snapshot.h"
#include "engine/io/writers/memory_timeline.h"
#include "engine/io/writers/memory_tracker.h"
#include "engine/io/writers/torch_snapshot.h"

namespace gpustrata::cli {

using answers::Conversion;

namespace {

struct ConvertOptions {
  std::string file;
  std::string output;    // - is standard output
  std::string to;        // empty = by the end of the output's name
  std::string snapshot;  // name or index of one of several; empty = all
  std::string device;    // of stacks: empty = the default one; of arrow: empty = all
  std::string at;        // of stacks; empty = the peak
  std::string table = "events";
  Partition partition;  // of arrow, where the output is a folder
  WithTrace with;       // ops of a trace become part of the stacks
  bool hex_addresses = false;
  bool json = false;  // report as JSON
};

constexpr size_t kMostNames = 20;  // of snapshots, in a message

[[nodiscard]] tl::unexpected<Failure> wrong_usage(std::string about, std::string message) {
  return failure(name_of(ErrorCode::wrong_usage), std::move(about), std::move(message));
}

[[nodiscard]] Outcome<std::string_view> target_of(const ConvertOptions& options) {
  if (!options.to.empty()) return std::string_view(options.to);
  // The first that fits counts.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kEndings = {
      {{".pickle", "pickle"},
       {".pkl", "pickle"},
       {".speedscope.json", "speedscope"},
       {".trace.json", "trace"},
       {".json", "json"},
       {".csv", "csv"},
       {".arrow", "arrow"},
       {".parquet", "parquet"},
       {".folded", "folded"},
       {".pprof", "pprof"},
       {".pb", "pprof"}}};
  for (const auto& [ending, kind] : kEndings) {
    if (std::string_view(options.output).ends_with(ending)) return kind;
  }
  if (options.partition.is_given()) return "arrow";  // the output is a folder
  return wrong_usage(
      options.output,
      options.output == "-"
          ? "Say with --to what to write: pickle, json, csv, arrow, trace, speedscope, folded or pprof."
          : "This name does not end with .pickle, .json, .csv, .arrow, .trace.json, .speedscope.json, "
            ".folded or .pb. Say with --to what to write.");
}

// The index of the snapshot that was asked for.
[[nodiscard]] Outcome<size_t> chosen_snapshot(const std::string& name, const model::Recording& recording) {
  if (name.empty()) return io::kAllSnapshots;
  const size_t count = recording.parts.size();
  for (size_t i = 0; i < count; ++i) {
    if (recording.parts[i].name == name) return i;
  }
  size_t index = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
  if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() && index < count) return index;
  if (count == 1) {
    return wrong_usage("--snapshot", "The file holds one snapshot only. Leave the option out.");
  }
  std::string names;
  for (size_t i = 0; i < count && i < kMostNames; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", answers::shortened(recording.parts[i].name, 60));
  }
  if (count > kMostNames) names += fmt::format(" and {} more", count - kMostNames);
  return wrong_usage("--snapshot", fmt::format("The file holds no snapshot \"{}\", but: {}.", name, names));
}

[[nodiscard]] Conversion counted(const model::Recording& recording, size_t chosen) {
  Conversion done;
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    if (chosen != io::kAllSnapshots && chosen != i) continue;
    const model::Part& part = recording.parts[i];
    if (part.kind == model::PartKind::series) {
      for (int32_t row = part.series.first; row < part.series.end(); ++row)
        done.points += recording.series.points[row].count;
      continue;
    }
    ++done.snapshots;
    for (const model::DeviceTrace& trace : part.traces) done.events += trace.events.count;
    done.events += part.host_events.count;
    for (const model::RowRange segments : {part.segments, part.host_segments}) {
      done.segments += segments.count;
      for (int32_t row = segments.first; row < segments.end(); ++row) {
        done.blocks += recording.segments.blocks[row].count;
      }
    }
  }
  done.findings = analysis::findings(recording.diagnostics);
  return done;
}

// The part to write if it is numbers over time, which have forms of their own; else null.
[[nodiscard]] const model::Part* series_to_write(const model::Recording& recording, size_t chosen) {
  const size_t only = recording.parts.size() == 1 ? 0 : chosen;
  if (only >= recording.parts.size()) return nullptr;
  const model::Part& part = recording.parts[only];
  return part.kind == model::PartKind::series ? &part : nullptr;
}

// Several parts in one file of snapshots: numbers over time have no place there.
[[nodiscard]] Outcome<void> is_one_form(const model::Recording& recording, size_t chosen,
                                        std::string_view to) {
  if (chosen != io::kAllSnapshots || recording.parts.size() < 2) return {};
  if (to != "pickle" && to != "json" && to != "csv") return {};
  for (const model::Part& part : recording.parts) {
    if (part.kind == model::PartKind::series)
      return wrong_usage("FILE",
                         fmt::format("{} in it holds numbers over time, which are written one at a time: "
                                     "name what to write with --snapshot.",
                                     answers::shortened(part.name, 60)));
  }
  return {};
}

[[nodiscard]] bool is_fleet(const model::Recording& recording, size_t chosen) {
  const size_t only = recording.parts.size() == 1 ? 0 : chosen;
  return only < recording.parts.size() && recording.parts[only].kind == model::PartKind::fleet;
}

[[nodiscard]] Status write_series(const model::Recording& recording, const model::Part& part,
                                  io::ByteSink& sink, std::string_view to, size_t chosen) {
  const bool are_operators = part.series_are == model::SeriesAre::operators;
  const bool are_categories = part.series_are == model::SeriesAre::categories;
  if (to == "pickle" && are_operators) return io::write_memory_tracker(recording, part, sink);
  if (to == "json" && are_categories) return io::write_memory_timeline(recording, part, sink);
  if (to == "csv") return io::write_csv(recording, sink, io::CsvTable::points, chosen);
  return fail(ErrorCode::wrong_usage, -1, "{}",
              are_operators    ? "Memory by operator is written as pickle or csv."
              : are_categories ? "A memory timeline is written as json or csv."
                               : "Numbers over time are written as csv.");
}

[[nodiscard]] Status write(const model::Recording& recording, io::ByteSink& sink, std::string_view to,
                           size_t part, const ConvertOptions& options) {
  if (const model::Part* series = series_to_write(recording, part))
    return write_series(recording, *series, sink, to, part);
  if (to == "pickle") return io::write_torch_snapshot(recording, sink, part);
  if (to == "json") return io::write_json_snapshot(recording, sink, {part, options.hex_addresses});
  return io::write_csv(recording, sink,
                       options.table == "blocks" ? io::CsvTable::blocks : io::CsvTable::events, part);
}

// Kinds that tell where memory is at a moment, by stack.
[[nodiscard]] bool is_by_stack(std::string_view to) {
  return to == "speedscope" || to == "folded" || to == "pprof";
}

[[nodiscard]] Outcome<void> write_stacks(const model::Recording& recording, answers::TextOut& out,
                                         std::string_view to, const ConvertOptions& options) {
  const FileChoice choice{options.file, options.snapshot, options.device, options.json};
  const auto chosen = choose(recording, choice);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto opened = open_device(recording, *chosen);
  if (!opened) return failure(opened.error(), options.file);
  const auto event = event_or_error(options.at.empty() ? "peak" : options.at, opened->moments());
  if (!event) return failure(event.error(), options.file);
  replay::MemoryAt memory(opened->context.history, recording.budget);
  if (const Status there = go_to(memory, *event); !there) return failure(there.error(), options.file);
  const auto stacks = analysis::fold_memory(recording, opened->context.history, memory,
                                            opened->context.index.streams, {false, true});
  if (!stacks) return failure(stacks.error(), options.file);
  const int32_t device = opened->device->ordinal();
  const std::string title = fmt::format("Memory of {} {}", answers::device_text(device),
                                        answers::moment_text(memory.event(), opened->moments()));
  if (to == "folded") {
    answers::folded_to_text(out, *stacks);
  } else if (to == "speedscope") {
    answers::export_speedscope(out, *stacks, title);
  } else {
    std::optional<int64_t> time;
    if (*event >= 0)
      time = opened->device->rows().clock.nanoseconds(
          recording.events.time[opened->device->rows().events.first + *event]);
    answers::export_pprof(out, *stacks, time);
  }
  return {};
}

// What is no form that this program reads snapshots from, but that other viewers do.
[[nodiscard]] Outcome<void> write_export(const model::Recording& recording, io::ByteSink& sink,
                                         std::string_view to, size_t part, const ConvertOptions& options) {
  answers::TextOut out(sink);
  if (is_by_stack(to)) {
    if (auto written = write_stacks(recording, out, to, options); !written) return written;
  } else if (const Status written =
                 answers::export_trace(out, recording, part == io::kAllSnapshots ? answers::kAllParts : part);
             !written) {
    return failure(written.error(), options.output);
  }
  const Status finished = out.finish();
  return finished ? Outcome<void>() : failure(finished.error(), options.output);
}

[[nodiscard]] Outcome<void> write_table(const model::Recording& recording, io::ByteSink& sink, size_t part,
                                        const ConvertOptions& options, const std::string& output,
                                        Conversion& done) {
  if (series_to_write(recording, part) != nullptr)
    return wrong_usage("--to", "Numbers over time are written as csv.");
  const ArrowChoice choice{options.table, part == io::kAllSnapshots ? std::nullopt : std::optional(part),
                           options.device};
  const auto rows = write_arrow(recording, choice, sink, output);
  if (!rows) return tl::unexpected(rows.error());
  done.table = options.table;
  done.rows = *rows;
  return {};
}

constexpr const char* kOfOneMoment =
    "Only what tells memory by stack is of one device at one moment: speedscope, folded, pprof.";

// Whether the options are of the form that is written.
[[nodiscard]] Outcome<void> check_options(const ConvertOptions& options, std::string_view to) {
  if (to == "parquet")
    return wrong_usage(
        "--to",
        fmt::format(
            "Parquet is written by the Python package: pip install 'gpustrata[arrow]', then python3 -c "
            "'import gpustrata; gpustrata.open(\"FILE\").write_parquet(\"OUT.parquet\", table=\"{}\")'",
            options.table));
  const bool is_arrow = to == "arrow";
  if (options.table != "events" && !is_arrow && (to != "csv" || options.table != "blocks"))
    return wrong_usage("--table", to == "csv" ? "csv has events or blocks; arrow has all tables."
                                              : "Only csv and arrow have tables; the other kinds hold all.");
  if (options.partition.is_given() && !is_arrow)
    return wrong_usage(options.partition.run.empty() ? "--rank" : "--run",
                       "Only arrow is written in partitions.");
  if (options.hex_addresses && to != "json")
    return wrong_usage("--hex-addresses", to == "csv" ? "csv always has them so."
                                          : is_arrow  ? "Arrow has integers of 64 bits."
                                                      : "A pickle holds integers only.");
  if (!options.at.empty() && !is_by_stack(to)) return wrong_usage("--at", kOfOneMoment);
  if (!options.device.empty() && !is_by_stack(to) && !is_arrow) return wrong_usage("--device", kOfOneMoment);
  return {};
}

[[nodiscard]] Outcome<Conversion> convert(const ConvertOptions& options, const Console& console) {
  const auto to = target_of(options);
  if (!to) return tl::unexpected(to.error());
  if (const auto good = check_options(options, *to); !good) return tl::unexpected(good.error());
  std::string output = options.output;
  if (options.partition.is_given()) {
    auto path = path_in(options.output, options.partition, options.table + ".arrow");
    if (!path) return tl::unexpected(path.error());
    output = std::move(*path);
  }
  Budget budget(console.budget_bytes);
  model::Recording recording(budget);
  if (auto read = read_recording(options.file, recording, console); !read)
    return tl::unexpected(read.error());
  const auto chosen = chosen_snapshot(options.snapshot, recording);
  if (!chosen) return tl::unexpected(chosen.error());
  if (auto one = is_one_form(recording, *chosen, *to); !one) return tl::unexpected(one.error());
  if (is_fleet(recording, *chosen))
    return wrong_usage("FILE",
                       "A reduced fleet has no other form: it is JSON, and so are the facts it was made of.");
  if (!options.with.trace.empty()) {
    const auto attached = attach_trace(options.with, options.file, recording, console);
    if (!attached) return tl::unexpected(attached.error());
    console.note("{}", answers::to_text(*attached));
  }

  Conversion done = counted(recording, *chosen);
  const auto bytes =
      write_output(output, {&options.file, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
        if (is_by_stack(*to) || *to == "trace") return write_export(recording, sink, *to, *chosen, options);
        if (*to == "arrow") return write_table(recording, sink, *chosen, options, output, done);
        const Status written = write(recording, sink, *to, *chosen, options);
        return written ? Outcome<void>() : failure(written.error(), output);
      });
  if (!bytes) return tl::unexpected(bytes.error());
  done.file = options.file;
  done.output = std::move(output);
  done.to = *to;
  done.bytes = *bytes;
  return done;
}

// The exit code: 0; 1 if the options do not fit together or the file; 2 if the file could not be read or the
// output not be written. Then the output is as it was before.
int run_convert(const ConvertOptions& options, const Console& console) {
  const auto result = convert(options, console);
  if (!result && !options.json) return tell(result.error(), false, console);
  // Standard output is the converted file's if it was asked for.
  io::ByteSink& report = options.output == "-" ? console.notes : console.out;
  std::string text;
  if (!options.json) {
    text = answers::to_text(*result);
  } else {
    answers::Failed failed;
    if (!result) {
      failed = result.error().told();
      failed.about = options.file;
      failed.output = options.output;
    }
    text = (result ? answers::json_of(*result) : answers::json_of(failed)) + "\n";
  }
  if (!report.write(io::bytes_of(text))) return tell_unwritten(console);
  return result ? kSuccess : result.error().exit_code();
}

}  // namespace

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

}  // namespace gpustrata::cli
