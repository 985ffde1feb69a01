#include "engine/cli/convert_command.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <optional>

#include "engine/answers/summary.h"
#include "engine/base/json_writer.h"
#include "engine/base/units.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/finding_lines.h"
#include "engine/cli/input.h"
#include "engine/cli/output_file.h"
#include "engine/cli/printable.h"
#include "engine/io/writers/csv.h"
#include "engine/io/writers/json_snapshot.h"
#include "engine/io/writers/memory_timeline.h"
#include "engine/io/writers/memory_tracker.h"
#include "engine/io/writers/torch_snapshot.h"

namespace memstrata::cli {

namespace {

constexpr size_t kMostNames = 20;  // of snapshots, in a message

[[nodiscard]] tl::unexpected<Failure> wrong_usage(std::string about, std::string message) {
  return failure(name_of(ErrorCode::wrong_usage), std::move(about), std::move(message));
}

// "pickle", "json" or "csv".
[[nodiscard]] Outcome<std::string> target_of(const ConvertOptions& options) {
  if (!options.to.empty()) return options.to;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEndings = {
      {{".pickle", "pickle"}, {".pkl", "pickle"}, {".json", "json"}, {".csv", "csv"}}};
  for (const auto& [ending, kind] : kEndings) {
    if (std::string_view(options.output).ends_with(ending)) return std::string(kind);
  }
  return wrong_usage(options.output,
                     options.output == "-"
                         ? "Say with --to what to write: pickle, json or csv."
                         : "This name does not end with .pickle, .json or .csv. Say with --to "
                           "what to write.");
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
    names += fmt::format("{}{}", i == 0 ? "" : ", ", shortened(recording.parts[i].name, 60));
  }
  if (count > kMostNames) names += fmt::format(" and {} more", count - kMostNames);
  return wrong_usage("--snapshot", fmt::format("The file holds no snapshot \"{}\", but: {}.", name, names));
}

struct Done {
  std::string to;
  int64_t bytes = 0;
  int64_t snapshots = 0, events = 0, segments = 0, blocks = 0, points = 0;
  std::vector<analysis::Finding> findings;
};

[[nodiscard]] Done counted(const model::Recording& recording, size_t chosen) {
  Done done;
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
        done.blocks += recording.segments.blocks[static_cast<size_t>(row)].count;
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

[[nodiscard]] Status write_series(const model::Recording& recording, const model::Part& part,
                                  io::ByteSink& sink, const std::string& to, size_t chosen) {
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

[[nodiscard]] Status write(const model::Recording& recording, io::ByteSink& sink, const std::string& to,
                           size_t part, const ConvertOptions& options) {
  if (const model::Part* series = series_to_write(recording, part))
    return write_series(recording, *series, sink, to, part);
  if (to == "pickle") return io::write_torch_snapshot(recording, sink, part);
  if (to == "json") return io::write_json_snapshot(recording, sink, {part, options.hex_addresses});
  return io::write_csv(recording, sink,
                       options.table == "blocks" ? io::CsvTable::blocks : io::CsvTable::events, part);
}

[[nodiscard]] Outcome<Done> convert(const ConvertOptions& options, const Console& console) {
  const auto to = target_of(options);
  if (!to) return tl::unexpected(to.error());
  if (options.table != "events" && *to != "csv")
    return wrong_usage("--table", "Only csv has tables; the other kinds hold both.");
  if (options.hex_addresses && *to != "json") {
    return wrong_usage("--hex-addresses",
                       *to == "csv" ? "csv always has them so." : "A pickle holds integers only.");
  }
  Budget budget(console.budget_bytes);
  model::Recording recording(budget);
  if (auto read = read_recording(options.file, recording, console); !read)
    return tl::unexpected(read.error());
  const auto chosen = chosen_snapshot(options.snapshot, recording);
  if (!chosen) return tl::unexpected(chosen.error());

  const auto bytes =
      write_output(options.output, {&options.file, 1}, console, [&](io::ByteSink& sink) -> Outcome<void> {
        const Status written = write(recording, sink, *to, *chosen, options);
        return written ? Outcome<void>() : failure(written.error(), options.output);
      });
  if (!bytes) return tl::unexpected(bytes.error());
  Done done = counted(recording, *chosen);
  done.to = *to;
  done.bytes = *bytes;
  return done;
}

[[nodiscard]] std::string report_json(const ConvertOptions& options, const Outcome<Done>& result) {
  JsonWriter json;
  json.begin_object();
  json.member("file", options.file);
  json.member("output", options.output);
  if (result) {
    json.member("to", result->to);
    json.member("bytes", result->bytes);
    json.member("snapshots", result->snapshots);
    json.member("events", result->events);
    json.member("segments", result->segments);
    json.member("blocks", result->blocks);
    if (result->points > 0) json.member("points", result->points);
    json.key("diagnostics");
    answers::findings_to_json(json, result->findings);
  } else {
    json.key("error");
    json.begin_object();
    json.member("code", result.error().code);
    json.member("message", result.error().message);
    json.member("offset",
                result.error().offset < 0 ? std::nullopt : std::optional<int64_t>(result.error().offset));
    json.end_object();
  }
  json.end_object();
  return std::move(json).text() + "\n";
}

[[nodiscard]] std::string counted_text(int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

[[nodiscard]] std::string report_text(const ConvertOptions& options, const Done& done) {
  std::string out = fmt::format("{}: {}, {}, {}, {}, {}\n",
                                options.output == "-" ? "standard output" : printable(options.output),
                                exact_size_text(done.bytes), counted_text(done.snapshots, "snapshot"),
                                counted_text(done.events, "event"), counted_text(done.segments, "segment"),
                                counted_text(done.blocks, "block"));
  if (done.snapshots == 0 && done.points > 0) {
    out = fmt::format("{}: {}, {}\n", options.output == "-" ? "standard output" : printable(options.output),
                      exact_size_text(done.bytes), counted_text(done.points, "point"));
  }
  out += finding_lines(done.findings, Remarks::left_out);
  if (done.snapshots > 1 && done.to == "pickle") {
    out += "  PyTorch's own viewer opens only one snapshot per file: choose it with --snapshot.\n";
  }
  return out;
}

}  // namespace

int run_convert(const ConvertOptions& options, const Console& console) {
  const auto result = convert(options, console);
  if (!result && !options.json) return tell(result.error(), false, console);
  // Standard output is the converted file's if it was asked for.
  io::ByteSink& report = options.output == "-" ? console.notes : console.out;
  const std::string text = options.json ? report_json(options, result) : report_text(options, *result);
  if (!report.write(io::bytes_of(text))) return tell_unwritten(console);
  return result ? kSuccess : result.error().exit_code();
}

}  // namespace memstrata::cli
