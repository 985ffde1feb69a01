#include "engine/io/registry.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/io/encodings/json/first_keys.h"
#include "engine/io/encodings/pickle/first_texts.h"
#include "engine/io/readers/fleet_file.h"
#include "engine/io/readers/journal/journal.h"
#include "engine/io/readers/series/memory_timeline.h"
#include "engine/io/readers/series/memory_tracker.h"
#include "engine/io/readers/series/telemetry.h"
#include "engine/io/readers/series/telemetry_csv.h"
#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "engine/io/readers/trace/chrome_trace.h"

namespace gpustrata::io {

namespace {

constexpr std::string_view kSnapshot = "a memory snapshot of PyTorch";
constexpr std::string_view kTelemetry = "telemetry of gpumemprof or Stormlog";
constexpr Words kSnapshotKeys = {"segments", "device_traces"};

// Of display_snapshot(): lines ("Device: cuda:0"), or a table in reStructuredText.
[[nodiscard]] bool is_printed_by_mem_tracker(std::string_view text) {
  if (text.starts_with("Device: ") || text.starts_with("Module: "))
    return text.find('\n') != std::string_view::npos;
  if (!text.starts_with("==")) return false;
  const std::string_view header = text.substr(std::min(text.find('\n') + 1, text.size()));
  return header.starts_with("Device ") || header.starts_with("State & Call ");
}

constexpr Kind kKinds[] = {
    {.name = kSnapshot, .encoding = Format::pickle, .keys = kSnapshotKeys, .make = torch_snapshot_reader},
    {.name = kSnapshot, .encoding = Format::json, .keys = kSnapshotKeys, .make = json_snapshot_reader},
    {.name = "a journal of a run",
     .encoding = Format::journal,
     .shape = begins_journal,
     .make = journal_reader},
    {.name = "a trace of the PyTorch profiler",
     .encoding = Format::json,
     .outer_keys = {"traceEvents", "ph"},
     .make = chrome_trace_reader},
    {.name = "a reduced fleet of gpustrata",
     .encoding = Format::json,
     .outer_keys = {"gpustrata_fleet"},
     .make = fleet_file_reader},
    {.name = "a memory timeline of the PyTorch profiler",
     .encoding = Format::json,
     .shape = begins_memory_timeline,
     .make = memory_timeline_reader},
    {.name = "statistics of PyTorch's MemoryTracker",
     .encoding = Format::pickle,
     .keys = {kTrackerTables[0], kTrackerTables[1], kTrackerTables[2]},
     .make = memory_tracker_reader},
    {.name = kTelemetry,
     .encoding = Format::json,
     .keys = {"allocator_allocated_bytes", "event_type", "num_results", "num_snapshots"},
     .outer_keys = {"memory_allocated", "memory_mb", "timestamps", "function_name"},
     .make = telemetry_reader},
    {.name = "a file of a bundle of gpumemprof",
     .encoding = Format::json,
     .keys = {"captured_event_count", "risk_flags", "bundle_name", "risk_detected"},
     .outer_keys = {"cwd", "fragmentation", "exception_type"},
     .make = telemetry_reader},
    {.name = kTelemetry,
     .encoding = Format::unknown,
     .shape = begins_telemetry_csv,
     .make = telemetry_csv_reader},
    {.name = "memory by category as MemTracker prints it",
     .encoding = Format::unknown,
     .shape = is_printed_by_mem_tracker,
     .refusal =
         "This is what MemTracker prints for people, rounded and without times; it is not read. Record a memory "
         "snapshot, or a profiler's trace with profile_memory=True."},
};

[[nodiscard]] bool holds(const Words& words, std::string_view word) {
  return !word.empty() && std::find(words.begin(), words.end(), word) != words.end();
}

[[nodiscard]] Told told_by(const Kind& kind, std::string_view what, size_t offset) {
  return {&kind, fmt::format("{} at byte {} tells {}", what, offset, kind.name),
          static_cast<int64_t>(offset)};
}

[[nodiscard]] Told tell_pickle(std::string_view bytes, std::span<const Kind> kinds) {
  for (size_t at = 1; at < bytes.size(); ++at) {
    for (const Kind& kind : kinds) {
      if (kind.encoding != Format::pickle) continue;
      for (const std::string_view word : kind.keys) {
        if (!word.empty() && bytes[at] == word[0] && pickle::is_text_at(bytes, at, word)) {
          return told_by(kind, fmt::format("the text \"{}\"", word), at);
        }
      }
    }
  }
  return {};
}

[[nodiscard]] Told tell_json(std::string_view text, std::span<const Kind> kinds) {
  const size_t start = text.find('[');
  const bool is_list = start != std::string_view::npos && start < text.find('{');
  json::KeyScan scan(text);
  for (json::FoundKey found = scan.next(); found.offset > 0; found = scan.next()) {
    const bool is_outer = found.depth == (is_list ? 2U : 1U);
    for (const Kind& kind : kinds) {
      if (kind.encoding != Format::json) continue;
      if (holds(kind.keys, found.key) || (is_outer && holds(kind.outer_keys, found.key))) {
        return told_by(kind, fmt::format("the key \"{}\"", found.key), found.offset);
      }
    }
  }
  return {};
}

}  // namespace

std::span<const Kind> all_kinds() { return kKinds; }

Told tell(Format encoding, std::string_view beginning, std::span<const Kind> kinds) {
  std::string_view visible = beginning;
  if (visible.starts_with("\xEF\xBB\xBF")) visible.remove_prefix(3);
  visible.remove_prefix(std::min(visible.find_first_not_of(" \t\r\n"), visible.size()));
  for (const Kind& kind : kinds) {
    if (kind.encoding == encoding && kind.shape != nullptr && kind.shape(visible)) {
      return told_by(kind, "what begins", beginning.size() - visible.size());
    }
  }
  Told told;
  if (encoding == Format::pickle) told = tell_pickle(beginning, kinds);
  if (encoding == Format::json) told = tell_json(beginning, kinds);
  if (told.kind != nullptr || encoding == Format::unknown) return told;
  for (const Kind& kind : kinds) {
    if (kind.encoding != encoding || kind.make == nullptr) continue;
    return {&kind, fmt::format("nothing in its beginning tells more, so it is taken for {}", kind.name), -1};
  }
  return {};
}

}  // namespace gpustrata::io
