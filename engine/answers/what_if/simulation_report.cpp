#include "engine/answers/what_if/simulation_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/alloc/memory_summary.h"
#include "engine/alloc/stats.h"
#include "engine/base/charge.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using alloc::Stat;
using simulate::Outcome;
using simulate::Request;
using simulate::RequestLog;
using simulate::Simulation;

namespace {

[[nodiscard]] std::string event_text(const Simulation& simulation, size_t row) {
  const model::Recording& recording = *simulation.recording;
  const model::EventTable& events = recording.events;
  const trace::Action action = events.action[row];
  std::string place;
  if (action == trace::Action::oom) {
    place = fmt::format("free={}", events.address[row]);
  } else if (action == trace::Action::snapshot) {
    place = "-";
  } else {
    place = simulation.outcome.place_of(events.address[row]);
  }
  std::string text = fmt::format("{} {} {}", trace::name_of(action), place, events.size[row]);
  const int64_t stream = recording.streams[events.stream[row].index()];
  if (stream != 0) text += fmt::format(" @{}", stream);
  return text;
}

void write_numbers(JsonWriter& json, std::string_view key, std::initializer_list<int64_t> numbers) {
  json.key(key);
  json.begin_array();
  for (const int64_t number : numbers) json.value(number);
  json.end_array();
}

void write_oversize(JsonWriter& json, const alloc::MemoryStats& stats) {
  if (stats.oversize_allocations == Stat{} && stats.oversize_segments == Stat{}) return;
  json.key("oversize");
  json.begin_array();
  for (const Stat* stat : {&stats.oversize_allocations, &stats.oversize_segments}) {
    json.begin_array();
    for (const int64_t number : {stat->current, stat->peak, stat->allocated, stat->freed}) json.value(number);
    json.end_array();
  }
  json.end_array();
}

void write_ooms(JsonWriter& json, const Simulation& simulation) {
  if (simulation.outcome.ooms.empty()) return;
  json.key("oom");
  json.begin_array();
  for (const Outcome::Oom& error : simulation.outcome.ooms) {
    const alloc::OomNumbers& oom = error.numbers;
    json.begin_object();
    json.member("tried", alloc::oom_size_text(oom.segment_bytes));
    json.member("total", alloc::oom_size_text(oom.device_total));
    json.member("free", alloc::oom_size_text(oom.device_free));
    if (oom.allowed_bytes >= 0) json.member("allowed", alloc::oom_size_text(oom.allowed_bytes));
    json.member("allocated", alloc::oom_size_text(oom.allocated_bytes));
    if (oom.private_pool_bytes > 0) json.member("private", alloc::oom_size_text(oom.private_pool_bytes));
    json.member("unallocated", alloc::oom_size_text(oom.unallocated_bytes));
    json.end_object();
  }
  json.end_array();
}

// What came of a step.
struct StepResult {
  StepResult(const Simulation& simulation, size_t row) {
    const RequestLog& log = simulation.script.requests;
    const Outcome& outcome = simulation.outcome;
    if (log.request[row] == Request::allocate) {
      address = outcome.address[row];
      block_bytes = outcome.block_bytes[row];
      if (const Outcome::Oom* error = outcome.oom_of(row); error != nullptr)
        oom = simulation.recording->strings.view(error->text);
    } else if (log.request[row] == Request::free || log.request[row] == Request::record_stream) {
      ignored = outcome.address[static_cast<size_t>(log.subject[row])] == 0;
    }
  }

  uint64_t address = 0;     // allocate: of the block; 0 = none
  int64_t block_bytes = 0;  // allocate
  bool ignored = false;     // free and record_stream of an allocation that failed
  std::string_view oom;     // allocate: the text of the error
};

void write_results(JsonWriter& json, const Simulation& simulation) {
  json.key("results");
  json.begin_array();
  for (size_t row = 0; row < simulation.script.places.size(); ++row) {
    const StepResult result(simulation, row);
    json.begin_object();
    json.member("line", simulation.script.places[row].line);
    json.member("step", simulation.script.step(row));
    if (result.address != 0) {
      json.member("place", simulation.outcome.place_of(result.address));
      json.member("size", result.block_bytes);
    }
    if (!result.oom.empty()) json.member("oom", result.oom);
    if (result.ignored) json.member("ignored", true);
    json.end_object();
  }
  json.end_array();
}

// "2,097,152  2.0 MiB"
[[nodiscard]] std::string result_text(const Simulation& simulation, size_t row) {
  const StepResult result(simulation, row);
  if (!result.oom.empty()) return std::string(result.oom);
  if (result.ignored) return "ignored: the allocation had failed";
  if (result.address != 0)
    return fmt::format("{}, block of {}", simulation.outcome.place_of(result.address),
                       exact_size_text(result.block_bytes));
  return {};
}

// Text of a script on its way to a terminal: control characters could act there.
[[nodiscard]] std::string harmless(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return shown;
}

// "S0+0 L@0: A2097152 -18874368": a segment or mapped range.
[[nodiscard]] std::string layout_line(const Simulation& simulation, size_t row) {
  const model::Recording& recording = *simulation.recording;
  const model::SegmentTable& segments = recording.segments;
  std::string line = fmt::format("{} {}{}", simulation.outcome.place_of(segments.address[row]),
                                 segments.type[row] == model::SegmentType::small ? 'S' : 'L',
                                 segments.expandable[row] == model::Tristate::yes ? "x" : "");
  const model::Pool& pool = recording.pools[segments.pool[row].index()];
  if (pool != model::Pool()) line += fmt::format("p{}.{}", pool.graph_id, pool.user_id);
  line += fmt::format("@{}:", recording.streams[segments.stream[row].index()]);
  const model::RowRange blocks = segments.blocks[row];
  for (auto block = static_cast<size_t>(blocks.first); block < static_cast<size_t>(blocks.end()); ++block) {
    fmt::format_to(std::back_inserter(line), " {}{}", "AP-?"[static_cast<int>(recording.blocks.state[block])],
                   recording.blocks.size[block]);
  }
  return line;
}

}  // namespace

void to_json(JsonWriter& json, const Simulation& simulation) {
  const alloc::MemoryStats& stats = simulation.outcome.stats;
  json.begin_object();
  json.key("trace");
  json.begin_array();
  for (size_t row = 0; row < simulation.recording->events.size_rows(); ++row)
    json.value(event_text(simulation, row));
  json.end_array();
  write_numbers(json, "bytes",
                {stats.allocated_bytes.all().current, stats.active_bytes.all().current,
                 stats.requested_bytes.all().current, stats.reserved_bytes.all().current,
                 stats.inactive_split_bytes.all().current});
  write_numbers(json, "count",
                {stats.allocation.all().current, stats.active.all().current, stats.segment.all().current,
                 stats.inactive_split.all().current});
  write_numbers(
      json, "peak",
      {stats.allocated_bytes.all().peak, stats.active_bytes.all().peak, stats.reserved_bytes.all().peak});
  write_numbers(json, "ctr",
                {stats.num_alloc_retries, stats.num_ooms, stats.num_sync_all_streams, stats.num_device_alloc,
                 stats.num_device_free});
  write_oversize(json, stats);
  json.key("layout");
  json.begin_array();
  for (size_t row = 0; row < simulation.recording->segments.size_rows(); ++row)
    json.value(layout_line(simulation, row));
  json.end_array();
  write_ooms(json, simulation);
  json.key("stats");
  json.begin_object();
  for (const alloc::NamedStat& stat : alloc::flat_stats(stats)) json.member(stat.name, stat.value);
  json.end_object();
  write_results(json, simulation);
  json.end_object();
}

void to_text(TextOut& out, const Simulation& simulation) {
  const size_t steps = simulation.script.places.size();
  size_t width = 0;
  for (size_t row = 0; row < steps; ++row)
    width = std::max(width, std::min<size_t>(simulation.script.step(row).size(), 60));
  out.add("Steps\n");
  for (size_t row = 0; row < steps && !out.failed(); ++row) {
    const int32_t line = simulation.script.places[row].line;
    const std::string outcome = result_text(simulation, row);
    const std::string step = harmless(simulation.script.step(row));
    if (outcome.empty()) {
      out.print("{:>6}  {}\n", line, step);
    } else {
      out.print("{:>6}  {:<{}}  {}\n", line, step, width, outcome);
    }
  }
  out.add(
      "\nSegments (S small pool, L large, x expandable, @ stream; blocks: A allocated, P pending free, - free)\n");
  const size_t segments = simulation.recording->segments.size_rows();
  if (segments == 0) out.add("  none\n");
  for (size_t row = 0; row < segments && !out.failed(); ++row)
    out.print("  {}\n", layout_line(simulation, row));
  out.print("\n{}", alloc::memory_summary(simulation.outcome.stats, 0));
}

Result<std::string> simulate_json(std::string_view script, int64_t device_bytes, std::string_view conf,
                                  Budget& budget) {
  const auto simulation = simulate::simulate(script, device_bytes, conf, budget);
  if (!simulation) return tl::unexpected(simulation.error());
  // Held as a whole, and charged as it grows.
  std::string text;
  Charge charge(budget);
  JsonWriter json([&](std::string_view piece) {
    if (!charge.more(2 * static_cast<int64_t>(piece.size()))) return false;  // a text grows by doubling
    text += piece;
    return true;
  });
  to_json(json, *simulation);
  if (!json.finish())
    return fail(ErrorCode::limit_exceeded, -1, "no memory for the report: {} bytes are allowed, {} needed",
                budget.limit(), budget.needed());
  return text;
}

}  // namespace gpustrata::answers
