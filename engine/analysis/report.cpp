#include "engine/analysis/report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/analysis/memory_state.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

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

ReportFinder::ReportFinder(const EventContext& context, const BlockAttributes& attributes,
                           const CategoryRules& rules)
    : context_(context),
      attributes_(attributes),
      rules_(rules),
      memory_(context.history, context.recording.budget),
      found_(context.recording.budget) {}

Status ReportFinder::find(int32_t part) {
  for (; found_parts_ < std::min(part, kParts); ++found_parts_) {
    if (Status done = find_one(found_parts_); !done) return done;
  }
  return {};
}

Status ReportFinder::find_one(int32_t part) {
  const model::Recording& recording = context_.recording;
  const replay::BlockLives& lives = context_.lifetimes;
  // Sets `into`, or says why not.
  const auto take = [](auto& into, auto&& result) -> Status {
    if (!result) return tl::unexpected(result.error());
    into = std::move(*result);
    return {};
  };
  const auto go_to = [&](int32_t event) -> Status {
    if (memory_.go_to(event)) return {};
    return fail(ErrorCode::limit_exceeded, -1, "The memory state does not fit into memory.");
  };
  switch (part) {
    case 0:
      return take(found_.overview, find_overview(recording, context_.part, lives));
    case 1:
      return take(found_.peak, find_peak_parts(recording, context_.part, lives));
    case 2:
      return take(found_.peak_groups, group_peak(context_));
    case 3:
      found_.ending = find_ending(recording, context_.part);
      return take(found_.out_of_memory, explain_all_out_of_memory(context_, memory_));
    case 4:
      return take(found_.steps, find_steps(recording, context_.part, context_.history.rows));
    case 5:
      return take(found_.leaks, find_leaks(recording, lives, attributes_.stack, found_.steps));
    case 6: {
      Status done = take(found_.categories, find_categories(recording, context_.part, lives,
                                                            attributes_.stack, found_.steps, rules_));
      if (done)
        found_.categories_at_peak = category_shares(lives, found_.categories, rules_, lives.peak_event);
      return done;
    }
    case 7: {
      found_.cache_flushes = find_cache_flushes(recording, context_.history.rows);
      if (context_.part.capabilities.profiled) return {};
      Status done = go_to(found_.overview.highest_reserved.event);
      if (done) found_.highest = reserved_use(memory_);
      return done;
    }
    default: {
      if (context_.part.capabilities.profiled) return {};
      Status done = go_to(fragmentation_event(recording, context_.history.rows));
      if (done) found_.fragmentation = find_fragmentation(context_, memory_);
      return done;
    }
  }
}

Result<Report> find_report(const EventContext& context, const BlockAttributes& attributes,
                           const CategoryRules& rules) {
  ReportFinder finder(context, attributes, rules);
  if (const Status done = finder.find(ReportFinder::kParts); !done) return tl::unexpected(done.error());
  return finder.take();
}

}  // namespace gpustrata::analysis
