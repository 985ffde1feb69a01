#include "engine/simulate/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "engine/alloc/memory_summary.h"
#include "engine/alloc/stats.h"
#include "engine/base/json_writer.h"
#include "engine/base/units.h"

namespace memstrata::simulate {

using alloc::Block;
using alloc::BlockId;
using alloc::MemoryStats;
using alloc::Segment;
using alloc::SegmentId;
using alloc::Stat;

namespace {

[[nodiscard]] std::string event_text(const Simulation& simulation, const trace::TraceEvent& event) {
  std::string place;
  if (event.action == trace::Action::oom) {
    place = fmt::format("free={}", event.address);
  } else if (event.action == trace::Action::snapshot) {
    place = "-";
  } else {
    place = simulation.place_of(event.address);
  }
  std::string text = fmt::format("{} {} {}", trace::name_of(event.action), place, event.size);
  if (event.stream != 0) text += fmt::format(" @{}", event.stream);
  return text;
}

void write_numbers(JsonWriter& json, std::string_view key, std::initializer_list<int64_t> numbers) {
  json.key(key);
  json.begin_array();
  for (const int64_t number : numbers) json.value(number);
  json.end_array();
}

void write_oversize(JsonWriter& json, const MemoryStats& stats) {
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
  if (simulation.ooms().empty()) return;
  json.key("oom");
  json.begin_array();
  for (const alloc::OutOfMemory& oom : simulation.ooms()) {
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

void write_results(JsonWriter& json, const Simulation& simulation) {
  json.key("results");
  json.begin_array();
  for (const StepResult& result : simulation.results()) {
    json.begin_object();
    json.member("line", result.step->line);
    json.member("step", result.step->text);
    if (result.address != 0) {
      json.member("place", simulation.place_of(result.address));
      json.member("size", result.block_bytes);
    }
    if (!result.oom.empty()) json.member("oom", result.oom);
    if (result.ignored) json.member("ignored", true);
    json.end_object();
  }
  json.end_array();
}

// "2,097,152  2.0 MiB"
[[nodiscard]] std::string result_text(const Simulation& simulation, const StepResult& result) {
  if (!result.oom.empty()) return result.oom;
  if (result.ignored) return "ignored: the allocation had failed";
  if (result.address != 0)
    return fmt::format("{}, block of {}", simulation.place_of(result.address),
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

}  // namespace

std::vector<std::string> layout_of(const Simulation& simulation) {
  const alloc::MemoryState& state = simulation.allocator().state();
  std::vector<std::string> layout;
  for (const SegmentId id : state.segments()) {
    const Segment& segment = state.segment(id);
    bool open = false;  // inside a mapped range
    for (BlockId i = segment.first; !i.is_none(); i = state.block(i).next) {
      const Block& block = state.block(i);
      if (!block.mapped) {
        open = false;
        continue;
      }
      if (!open) {
        std::string head = fmt::format("{} {}{}", simulation.place_of(block.address),
                                       segment.small ? 'S' : 'L', segment.expandable ? "x" : "");
        if (segment.pool != trace::PoolKey{})
          head += fmt::format("p{}.{}", segment.pool.graph_id, segment.pool.user_id);
        layout.push_back(head + fmt::format("@{}:", segment.stream));
        open = true;
      }
      fmt::format_to(std::back_inserter(layout.back()), " {}{}", "AP-"[static_cast<int>(block.state)],
                     block.size);
    }
  }
  return layout;
}

std::string report_json(const Simulation& simulation) {
  const MemoryStats& stats = simulation.allocator().stats();
  JsonWriter json;
  json.begin_object();
  json.key("trace");
  json.begin_array();
  for (const trace::TraceEvent& event : simulation.events()) json.value(event_text(simulation, event));
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
  for (const std::string& segment : layout_of(simulation)) json.value(segment);
  json.end_array();
  write_ooms(json, simulation);
  json.key("stats");
  json.begin_object();
  for (const alloc::NamedStat& stat : alloc::flat_stats(stats)) json.member(stat.name, stat.value);
  json.end_object();
  write_results(json, simulation);
  json.end_object();
  return std::move(json).text();
}

std::string report_text(const Simulation& simulation) {
  size_t width = 0;
  for (const StepResult& result : simulation.results())
    width = std::max(width, std::min<size_t>(result.step->text.size(), 60));
  std::string text = "Steps\n";
  for (const StepResult& result : simulation.results()) {
    const std::string outcome = result_text(simulation, result);
    const std::string step = harmless(result.step->text);
    text += outcome.empty() ? fmt::format("{:>6}  {}\n", result.step->line, step)
                            : fmt::format("{:>6}  {:<{}}  {}\n", result.step->line, step, width, outcome);
  }
  text +=
      "\nSegments (S small pool, L large, x expandable, @ stream; blocks: A allocated, P pending free, - free)\n";
  const std::vector<std::string> layout = layout_of(simulation);
  if (layout.empty()) text += "  none\n";
  for (const std::string& segment : layout) text += "  " + segment + "\n";
  return text + "\n" +
         alloc::memory_summary(simulation.allocator().stats(), simulation.allocator().ordinal());
}

Result<std::string> simulate_json(std::string_view script, int64_t device_bytes, std::string_view conf,
                                  Budget& budget) {
  const auto simulation = Simulation::make(device_bytes, conf, budget);
  if (!simulation) return tl::unexpected(simulation.error());
  if (auto status = (*simulation)->run(script); !status) return tl::unexpected(status.error());
  return report_json(**simulation);
}

}  // namespace memstrata::simulate
