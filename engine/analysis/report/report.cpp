#include "engine/analysis/report/report.h"

#include <algorithm>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/findings/operator_remedies.h"
#include "engine/base/saturating.h"

namespace gpustrata::analysis {

namespace {

// Nothing failed: the device is only larger than it need be.
constexpr double kMuchAtThePeak = 0.2;
constexpr int64_t kMuchBytesAtThePeak = int64_t{256} << 20;

[[nodiscard]] Result<Top> group_peak(const EventContext& context, Device& device) {
  const replay::BlockLives& lives = context.lifetimes;
  const auto ranks = ranks_in(lives, When::alive(lives.peak_event), {}, context.recording.budget);
  if (!ranks) return tl::unexpected(ranks.error());
  const auto by_stack = sums_by_stack(context.recording, context.part, lives, ranks->span());
  if (!by_stack) return tl::unexpected(by_stack.error());
  std::optional<Top> best;
  for (const By by : {By::line, By::function, By::file}) {
    const auto keys = device.keys(by);
    if (!keys) return tl::unexpected(keys.error());
    auto top = top_of(context.recording, *by_stack, by, kMostPeakLines, *keys);
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

ReportFinder::ReportFinder(const EventContext& context, Device& device)
    : context_(context),
      device_(device),
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
    case 0: {
      found_.lacks_segments =
          context_.history.diagnostics[model::Diag::state_block_outside_segments].count > 0;
      const auto lines = device_.keys(By::line);
      if (!lines) return tl::unexpected(lines.error());
      return take(found_.overview, find_overview(recording, context_.part, lives, *lines));
    }
    case 1:
      return take(found_.peak, find_top(recording, context_.part, lives, When::alive(lives.peak_event),
                                        By::shown, kMostPeakParts));
    case 2:
      if (Status done = take(found_.peak_groups, group_peak(context_, device_)); !done) return done;
      return take(found_.repeats, find_repeats(recording, lives, lives.peak_event));
    case 3: {
      found_.ending = find_ending(recording, context_.part);
      const auto lines = device_.keys(By::line);
      if (!lines) return tl::unexpected(lines.error());
      return take(found_.out_of_memory, explain_all_out_of_memory(context_, memory_, *lines));
    }
    case 4: {
      if (Status done = take(found_.steps, device_.steps()); !done) return done;
      const auto lines = device_.keys(By::line);
      if (!lines) return tl::unexpected(lines.error());
      if (Status done = add_needed_at_least(context_, *found_.steps, found_.out_of_memory, *lines); !done)
        return done;
      return add_operator_remedies(context_, found_.out_of_memory);
    }
    case 5: {
      const auto attributes = device_.attributes();
      if (!attributes) return tl::unexpected(attributes.error());
      return take(found_.leaks, find_leaks(recording, lives, (*attributes)->stack, *found_.steps));
    }
    case 6: {
      if (Status done = take(found_.categories, device_.categories()); !done) return done;
      const auto ranks = ranks_in(lives, When::alive(lives.peak_event), {}, recording.budget);
      if (!ranks) return tl::unexpected(ranks.error());
      return take(found_.categories_at_peak,
                  sums_by_category(lives, ranks->span(), found_.categories->categories,
                                   found_.categories->rules, {}, recording.budget));
    }
    case 7: {
      found_.cache_flushes = find_cache_flushes(recording, context_.history.rows,
                                                context_.history.config.garbage_collection_threshold > 0);
      if (context_.part.capabilities.profiled || !found_.overview.highest_reserved.reserved) return {};
      Status done = go_to(found_.overview.highest_reserved.event);
      if (done) found_.highest = reserved_use(memory_);
      return done;
    }
    default: {
      if (context_.part.capabilities.profiled) return {};
      Status done = go_to(fragmentation_event(recording, context_.history.rows));
      if (!done) return done;
      found_.fragmentation = find_fragmentation(context_, memory_);
      if (found_.out_of_memory.all > 0) {
        found_.harmful_fragmentation = found_.fragmentation;
        return {};
      }
      const CacheFlushes& flushes = found_.cache_flushes;
      if (done = go_to(lives.peak_event); !done) return done;
      Fragmentation at_peak = find_fragmentation(context_, memory_);
      if (at_peak.share() >= kMuchAtThePeak && at_peak.lost() >= kMuchBytesAtThePeak)
        found_.harmful_fragmentation = std::move(at_peak);
      if (flushes.retries.count == 0) return {};
      if (done = go_to(flushes.retries.largest - 1); !done) return done;
      Fragmentation flushed = find_fragmentation(context_, memory_);
      if (!found_.harmful_fragmentation || flushed.share() > found_.harmful_fragmentation->share())
        found_.harmful_fragmentation = std::move(flushed);
      return {};
    }
  }
}

Result<Report> find_report(const EventContext& context, Device& device) {
  ReportFinder finder(context, device);
  if (const Status done = finder.find(ReportFinder::kParts); !done) return tl::unexpected(done.error());
  return finder.take();
}

}  // namespace gpustrata::analysis
