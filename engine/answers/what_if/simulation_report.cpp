#include "engine/answers/what_if/simulation_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "engine/alloc/memory_summary.h"
#include "engine/alloc/stats.h"
#include "engine/base/charge.h"
#include "engine/base/memory_refused.h"
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

// What came of a step.
struct StepResult {
  uint64_t address = 0;     // allocate: of the block; 0 = none
  int64_t block_bytes = 0;  // allocate
  bool ignored = false;     // free and record_stream of an allocation that failed
  std::string_view oom;     // allocate: the text of the error
};
[[nodiscard]] StepResult result_of(const Simulation& simulation, size_t row) {
  const RequestLog& log = simulation.script.requests;
  const Outcome& outcome = simulation.outcome;
  StepResult result;
  if (log.request[row] == Request::allocate) {
    result.address = outcome.address[row];
    result.block_bytes = outcome.block_bytes[row];
    if (const Outcome::Oom* error = outcome.oom_of(row); error != nullptr)
      result.oom = simulation.recording->strings.view(error->text);
  } else if (log.request[row] == Request::free || log.request[row] == Request::record_stream) {
    result.ignored = outcome.address[log.subject[row]] == 0;
  }
  return result;
}

void describe_ooms(Members& m, const Column<Outcome::Oom>& ooms) {
  m.list({"oom", "Absent without an error."}, ooms, [&](const Outcome::Oom& error) {
    const alloc::OomNumbers& oom = error.numbers;
    const auto size = [&](Name name, int64_t bytes) {
      m.text(name, [&] { return alloc::oom_size_text(bytes); });
    };
    size({"tried", "As PyTorch prints sizes."}, oom.segment_bytes);
    size("total", oom.device_total);
    size("free", oom.device_free);
    if (const auto there = m.when(oom.allowed_bytes >= 0))
      size({"allowed", "If it is limited."}, oom.allowed_bytes);
    size("allocated", oom.allocated_bytes);
    if (const auto there = m.when(oom.private_pool_bytes > 0)) size("private", oom.private_pool_bytes);
    size("unallocated", oom.unallocated_bytes);
  });
}

void describe_results(Members& m, const Simulation& simulation) {
  size_t row = 0;
  m.list({"results", "Step by step."}, simulation.script.places, [&](const auto& place) {
    const StepResult result = m.found([&] { return result_of(simulation, row); });
    m.count("line", place.line);
    m.text("step", [&] { return simulation.script.step(row); });
    if (const auto there = m.when(result.address != 0)) {
      m.text("place", [&] { return simulation.outcome.place_of(result.address); });
      m.bytes({"size", "Of the block."}, result.block_bytes);
    }
    if (const auto there = m.when(!result.oom.empty())) m.text({"oom", "The message."}, result.oom);
    if (const auto there = m.when(result.ignored))
      m.flag({"ignored", "Of an allocation that failed."}, result.ignored);
    ++row;
  });
}

// "2,097,152  2.0 MiB"
[[nodiscard]] std::string result_text(const Simulation& simulation, size_t row) {
  const StepResult result = result_of(simulation, row);
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

void describe(Members& m, const Simulation& simulation) {
  const alloc::MemoryStats& stats = simulation.outcome.stats;
  const auto numbers = [&](As as, Name name, std::initializer_list<int64_t> all) {
    m.values(as, name, all, [](int64_t number) { return number; });
  };
  const auto lines = [&](Name name, const auto& count, const auto& line) {
    m.written(name, std::span<const std::string_view>(), [&](JsonWriter& json) {
      json.begin_array();
      for (size_t row = 0; row < count(); ++row) json.value(line(simulation, row));
      json.end_array();
    });
  };
  m.line({"simulate --json", "What a script comes to. All numbers are those after the last step."});
  lines(
      {"trace",
       "Event by event: action, place, size, @stream. Of `oom` free=BYTES for the place, of `snapshot` -."},
      [&] { return simulation.recording->events.size_rows(); }, event_text);
  numbers(As::bytes, {"bytes", "Current: allocated, active, requested, reserved, inactive_split."},
          {stats.allocated_bytes.all().current, stats.active_bytes.all().current,
           stats.requested_bytes.all().current, stats.reserved_bytes.all().current,
           stats.inactive_split_bytes.all().current});
  numbers(As::count, {"count", "Current: allocation, active, segment, inactive_split."},
          {stats.allocation.all().current, stats.active.all().current, stats.segment.all().current,
           stats.inactive_split.all().current});
  numbers(As::bytes, {"peak", "Allocated, active, reserved."},
          {stats.allocated_bytes.all().peak, stats.active_bytes.all().peak, stats.reserved_bytes.all().peak});
  numbers(As::count,
          {"ctr", "num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free."},
          {stats.num_alloc_retries, stats.num_ooms, stats.num_sync_all_streams, stats.num_device_alloc,
           stats.num_device_free});
  const bool has_oversize = stats.oversize_allocations != Stat{} || stats.oversize_segments != Stat{};
  if (const auto there = m.when(has_oversize)) {
    m.written(
        As::any,
        {"oversize",
         "Current, peak, allocated, freed of oversize_allocations, and the same of oversize_segments; absent if all are 0."},
        [&](JsonWriter& json) {
          json.begin_array();
          for (const Stat* stat : {&stats.oversize_allocations, &stats.oversize_segments}) {
            json.begin_array();
            for (const int64_t number : {stat->current, stat->peak, stat->allocated, stat->freed})
              json.value(number);
            json.end_array();
          }
          json.end_array();
        });
  }
  lines(
      {"layout",
       "Per segment, or mapped range of an expandable one: place, S(mall) or L(arge), x = expandable, pA.B = "
       "private pool, @stream, blocks: A allocated, P pending free, - free."},
      [&] { return simulation.recording->segments.size_rows(); }, layout_line);
  if (const auto there = m.when(!simulation.outcome.ooms.empty())) describe_ooms(m, simulation.outcome.ooms);
  m.by_name(
      As::count, {"stats", "Every key of memory_stats()."}, [&] { return alloc::flat_stats(stats); },
      [](const alloc::NamedStat& stat) -> const auto& { return stat.name; },
      [](const alloc::NamedStat& stat) { return stat.value; });
  describe_results(m, simulation);
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
  if (!json.finish()) return memory_refused(budget, "for the report");
  return text;
}

}  // namespace gpustrata::answers
