#include "engine/analysis/report.h"

#include <optional>
#include <utility>

#include "engine/analysis/memory_state.h"
#include "engine/base/saturating.h"
#include "engine/replay/memory_at.h"

namespace memstrata::analysis {

namespace {

[[nodiscard]] Result<Top> group_peak(const EventContext& context) {
  const replay::BlockLives& lives = context.lifetimes;
  std::optional<Top> best;
  for (const TopBy by : {TopBy::line, TopBy::function, TopBy::file}) {
    auto top = find_top(context.recording, context.part, lives, lives.peak_event, by, kMostPeakLines);
    if (!top) return top;
    const bool enough =
        static_cast<double>(top->other_bytes) <= (1 - kMostOfPeak) * static_cast<double>(top->bytes);
    if (enough || !best || top->other_bytes < best->other_bytes) best = std::move(*top);
    if (enough) break;
  }
  return std::move(*best);
}

[[nodiscard]] ReservedUse reserved_use(const replay::MemoryAt& memory) {
  const replay::TotalsAt& totals = memory.totals();
  return {memory.event(),     totals.reserved,
          totals.requested,   saturated_difference(totals.active, totals.requested),
          free_bytes(memory), saturated_difference(totals.active, totals.allocated)};
}

}  // namespace

Result<Report> find_report(const EventContext& context, const BlockAttributes& attributes,
                           const CategoryRules& rules) {
  const model::Recording& recording = context.recording;
  Report found(recording.budget);
  // Sets `into`, or says why not.
  const auto take = [](auto& into, auto&& result) -> Status {
    if (!result) return tl::unexpected(result.error());
    into = std::move(*result);
    return {};
  };
  replay::MemoryAt memory(context.history, recording.budget);
  Status done = take(found.overview, find_overview(recording, context.part, context.lifetimes));
  if (done) done = take(found.peak, find_peak_parts(recording, context.part, context.lifetimes));
  if (done) done = take(found.peak_groups, group_peak(context));
  if (done) done = take(found.out_of_memory, explain_all_out_of_memory(context, memory));
  if (done) done = take(found.steps, find_steps(recording, context.part, context.history.rows));
  if (done) done = take(found.leaks, find_leaks(recording, context.lifetimes, attributes.stack, found.steps));
  if (done)
    done = take(found.categories,
                find_categories(recording, context.lifetimes, attributes.stack, found.steps, rules));
  if (!done) return tl::unexpected(done.error());
  found.categories_at_peak =
      category_shares(context.lifetimes, found.categories, rules, context.lifetimes.peak_event);
  found.cache_flushes = find_cache_flushes(recording, context.history.rows);
  const auto no_memory = [] {
    return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
  };
  if (!memory.go_to(found.overview.highest_reserved.event)) return no_memory();
  found.highest = reserved_use(memory);
  if (!memory.go_to(fragmentation_event(recording, context.history.rows))) return no_memory();
  found.fragmentation = find_fragmentation(context, memory);
  return found;
}

}  // namespace memstrata::analysis
