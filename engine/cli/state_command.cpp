#include "engine/cli/state_command.h"

#include <fmt/core.h>

#include "engine/analysis/pool_id.h"
#include "engine/analysis/state_json.h"
#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/opened_device.h"
#include "engine/cli/printable.h"
#include "engine/replay/memory_at.h"

namespace memstrata::cli {

namespace {

void write_findings(TextOut& out, const model::Diagnostics& diagnostics) {
  bool first = true;
  for (const analysis::Finding& finding : analysis::findings(diagnostics)) {
    out.print("{}    {:<8} {}{}\n", first ? "\n  Noticed while undoing events\n" : "", finding.severity,
              shortened(finding.text, 300),
              finding.count == 1 ? "" : fmt::format(" [{} times]", count_text(finding.count)));
    first = false;
  }
}

[[nodiscard]] std::string pool_words(const model::Recording& recording, PoolId pool) {
  if (pool.is_none()) return "pool unknown";
  const model::Pool& key = recording.pools[pool.index()];
  if (key == model::Pool{}) return "default pool";
  return fmt::format("private pool ({})", analysis::pool_text(key));
}

void write_state(TextOut& out, const model::Recording& recording, const replay::StateHistory& history,
                 const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  if (memory.event() < 0) {
    out.print("Device {} before event 0\n", history.rows.device);
  } else {
    out.print("Device {} after event {} (the last is {})\n", history.rows.device, count_text(memory.event()),
              count_text(history.event_count() - 1));
  }
  out.print("  reserved   {}\n  allocated  {}\n  active     {}\n  requested  {}\n",
            exact_size_text(totals.reserved), exact_size_text(totals.allocated),
            exact_size_text(totals.active), exact_size_text(totals.requested));
  out.print("  free       {} in {} blocks, the largest {}\n",
            exact_size_text(totals.reserved - totals.active), count_text(totals.free_blocks),
            exact_size_text(totals.largest_free));
  const auto block_line = [&out](const replay::BlockAt& block) {
    out.print("    {:#x}  {:>12}  {}", block.address, size_text(block.size), analysis::name_of(block.state));
    if (block.row >= 0) out.print(", {} requested", size_text(block.requested_size));
    out.add("\n");
  };
  for (const replay::SegmentAt& segment : memory.segments()) {
    const auto row = static_cast<size_t>(segment.row);
    const StreamId stream = history.range_stream[row];
    out.print("\n  Segment {:#x}  {}, stream {}, {}\n", segment.address, size_text(segment.size),
              stream.is_none() ? "unknown" : fmt::format("{:#x}", recording.streams[stream.index()]),
              pool_words(recording, history.range_pool[row]));
    for (const replay::BlockAt& block : memory.blocks_of(segment)) block_line(block);
  }
  if (!memory.outside().empty()) out.add("\n  Blocks without a segment\n");
  for (const replay::BlockAt& block : memory.outside()) block_line(block);
  write_findings(out, history.diagnostics);
}

}  // namespace

int run_state(const StateOptions& options, const Console& console) {
  return answer_about(
      options.choice, console, [&](const model::Recording& recording, TextOut& out) -> Outcome<void> {
        const auto chosen = choose(recording, options.choice);
        if (!chosen) return tl::unexpected(chosen.error());
        const auto history = replay::undo_to_start(recording, *chosen->snapshot, chosen->device);
        if (!history) return failure(history.error(), options.choice.file);
        for (const int64_t event : options.events) {
          if (event < -1 || event >= history->event_count()) {
            return failure(
                name_of(ErrorCode::wrong_usage), options.choice.file,
                fmt::format("There is no event {}: device {} has {} events, and -1 is the state before them.",
                            event, chosen->device, history->event_count()));
          }
        }
        replay::MemoryAt memory(*history, recording.budget);
        bool first = true;
        for (const int64_t event : options.events) {
          if (const Status there = go_to(memory, static_cast<int32_t>(event)); !there)
            return failure(there.error(), options.choice.file);
          if (!options.choice.json && !first) out.add("\n");
          first = false;
          if (options.choice.json) {
            out.add(analysis::state_json(recording, *history, memory));
            out.add("\n");
          } else {
            write_state(out, recording, *history, memory);
          }
        }
        return {};
      });
}

}  // namespace memstrata::cli
