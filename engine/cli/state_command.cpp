#include "engine/cli/state_command.h"

#include <fmt/core.h>

#include <limits>

#include "engine/analysis/pool_id.h"
#include "engine/analysis/state_json.h"
#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/printable.h"
#include "engine/replay/memory_at.h"

namespace memstrata::cli {

namespace {

void append_findings(std::string& out, const model::Diagnostics& diagnostics) {
  bool first = true;
  for (const analysis::Finding& finding : analysis::findings(diagnostics)) {
    out += fmt::format("{}    {:<8} {}{}\n", first ? "\n  Noticed while undoing events\n" : "",
                       finding.severity, shortened(finding.text, 300),
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

[[nodiscard]] std::string state_text(const model::Recording& recording, const replay::StateHistory& history,
                                     const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  std::string out = memory.event() < 0
                        ? fmt::format("Device {} before event 0\n", history.rows.device)
                        : fmt::format("Device {} after event {} (the last is {})\n", history.rows.device,
                                      count_text(memory.event()), count_text(history.event_count() - 1));
  out += fmt::format("  reserved   {}\n  allocated  {}\n  active     {}\n  requested  {}\n",
                     exact_size_text(totals.reserved), exact_size_text(totals.allocated),
                     exact_size_text(totals.active), exact_size_text(totals.requested));
  out += fmt::format("  free       {} in {} blocks, the largest {}\n",
                     exact_size_text(totals.reserved - totals.active), count_text(totals.free_blocks),
                     exact_size_text(totals.largest_free));
  const auto block_line = [&out](const replay::BlockAt& block) {
    out += fmt::format("    {:#x}  {:>12}  {}", block.address, size_text(block.size),
                       analysis::name_of(block.state));
    if (block.row >= 0) out += fmt::format(", {} requested", size_text(block.requested_size));
    out += "\n";
  };
  for (const replay::SegmentAt& segment : memory.segments()) {
    const auto row = static_cast<size_t>(segment.row);
    const StreamId stream = history.range_stream[row];
    out += fmt::format("\n  Segment {:#x}  {}, stream {}, {}\n", segment.address, size_text(segment.size),
                       stream.is_none() ? "unknown" : fmt::format("{:#x}", recording.streams[stream.index()]),
                       pool_words(recording, history.range_pool[row]));
    for (const replay::BlockAt& block : memory.blocks_of(segment)) block_line(block);
  }
  if (!memory.outside().empty()) out += "\n  Blocks without a segment\n";
  for (const replay::BlockAt& block : memory.outside()) block_line(block);
  append_findings(out, history.diagnostics);
  return out;
}

}  // namespace

int run_state(const StateOptions& options) {
  return answer_about(options.choice, [&](const model::Recording& recording) -> Result<std::string> {
    const auto chosen = choose(recording, options.choice);
    if (!chosen) return tl::unexpected(chosen.error());
    const auto history = replay::undo_to_start(recording, *chosen->snapshot, chosen->device);
    if (!history) return tl::unexpected(history.error());
    replay::MemoryAt memory(*history, recording.budget);
    std::string out;
    for (const int64_t event : options.events) {
      if (event < -1 || event >= history->event_count()) {
        return fail(ErrorCode::wrong_usage, -1,
                    "There is no event {}: device {} has {} events, and -1 is the state before them.", event,
                    chosen->device, history->event_count());
      }
      if (!memory.go_to(static_cast<int32_t>(event)))
        return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
      if (!options.choice.json && !out.empty()) out += "\n";
      out += options.choice.json ? analysis::state_json(recording, *history, memory) + "\n"
                                 : state_text(recording, *history, memory);
    }
    return out;
  });
}

}  // namespace memstrata::cli
