#include "engine/analysis/report/check.h"

#include <algorithm>
#include <limits>

namespace gpustrata::analysis {

namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

[[nodiscard]] Undecided doubt_of_no_leak(const Report& report, bool incomplete) {
  const Undecided doubt = doubt_of_peak(report.overview, report.ending, incomplete, kAnything);
  if (doubt == Undecided::incomplete || doubt == Undecided::no_history || doubt == Undecided::not_ended)
    return doubt;
  if (report.steps->from == StepsFrom::nothing)
    return report.steps->why_not == NoLoop::of_trace ? Undecided::steps_of_trace : Undecided::no_steps;
  if (report.steps->count() < kFewestGrowths) return Undecided::few_steps;
  return report.steps->from == StepsFrom::loop ? Undecided::guessed_steps : Undecided::no;
}

}  // namespace

Undecided doubt_of_peak(const Overview& overview, const Ending& ending, bool incomplete, double most) {
  if (incomplete) return Undecided::incomplete;
  if (overview.lacks(NotRecorded::history)) return Undecided::no_history;
  if (ending.is_open) return Undecided::not_ended;
  if (ending.at_failure()) return Undecided::ends_out_of_memory;
  if (overview.lacks(NotRecorded::oldest_events)) return Undecided::events_lost;
  return static_cast<double>(overview.reserved_at_start.value_or(0)) > most ? Undecided::starts_in_use
                                                                            : Undecided::no;
}

std::vector<CheckedRule> check_device(const Report& report, const CheckRules& rules, bool incomplete,
                                      std::optional<Baseline> baseline) {
  std::vector<CheckedRule> found;
  // `doubt` of what is not in the recording: it can only be more than `value`.
  const auto add = [&](RuleKind kind, double limit, std::optional<double> value, Undecided doubt,
                       int32_t event, StackId stack) {
    if (!value && doubt == Undecided::no) doubt = Undecided::not_told;
    if (value && *value > limit) doubt = Undecided::no;
    const bool kept = doubt == Undecided::no && *value <= limit;
    found.push_back({kind, kept, limit, value, report.overview.device, event, stack, doubt,
                     report.overview.is_processor});
  };
  // What is not whole may have the levels of blocks whose ends are missing: neither more nor less is sure.
  const auto add_level = [&](RuleKind kind, double limit, std::optional<double> value, Undecided doubt,
                             int32_t event, StackId stack) {
    add(kind, limit, value, doubt, event, stack);
    if (!incomplete) return;
    found.back().kept = false;
    found.back().undecided = Undecided::incomplete;
  };
  const auto doubt_of = [&](double most) {
    return doubt_of_peak(report.overview, report.ending, incomplete, most);
  };
  const auto peak = static_cast<double>(report.peak.bytes);
  const StackId most = report.peak.groups.empty() ? StackId{} : report.peak.groups[0].stack;
  if (rules.max_peak)
    add_level(RuleKind::max_peak, static_cast<double>(*rules.max_peak), peak,
              doubt_of(static_cast<double>(*rules.max_peak)), report.peak.event, most);
  if (rules.max_reserved) {
    const Use& use = report.overview.highest_reserved;
    std::optional<double> reserved;
    if (use.reserved) reserved = static_cast<double>(*use.reserved);
    add_level(RuleKind::max_reserved, static_cast<double>(*rules.max_reserved), reserved, doubt_of(kAnything),
              use.event, {});
    // Of events that are missing either kind may be: neither more nor less is sure.
    if (report.lacks_segments && !incomplete) {
      found.back().kept = false;
      found.back().undecided = Undecided::segments_missing;
    }
  }
  if (rules.no_oom) {
    const auto& all = report.out_of_memory.explained;
    add(RuleKind::no_oom, 0, static_cast<double>(report.out_of_memory.all), doubt_of(kAnything),
        all.empty() ? -1 : all.back().event, all.empty() ? StackId{} : all.back().stack);
  }
  if (rules.no_leak) {
    const auto& leaks = report.leaks.leaks;
    const size_t sure = sure_leaks(report.leaks);
    const auto all = static_cast<double>(leaks.size()) + static_cast<double>(report.leaks.left_out);
    const auto first = std::find_if(leaks.begin(), leaks.end(), [sure](const Leak& leak) {
      return sure == 0 || leak.confidence >= kSureLeak;
    });
    const bool any = first != leaks.end();
    add_level(RuleKind::no_leak, 0, sure > 0 ? static_cast<double>(sure) : all,
              doubt_of_no_leak(report, incomplete), any ? report.steps->begin[first->first_step] : -1,
              any ? first->stack : StackId{});
    if (found.back().undecided == Undecided::no && sure == 0 && (any || report.leaks.level_rises)) {
      found.back().kept = false;
      found.back().undecided =
          report.steps->from == StepsFrom::loop ? Undecided::guessed_steps : Undecided::unsure_leak;
    }
  }
  if (rules.max_fragmentation)  // of the last moment, whatever was before
    add_level(RuleKind::max_fragmentation, *rules.max_fragmentation,
              report.fragmentation ? std::optional(report.fragmentation->share()) : std::nullopt,
              Undecided::no, report.fragmentation ? report.fragmentation->event : -1, {});
  if (rules.max_growth && baseline) {
    const auto before = static_cast<double>(baseline->peak_bytes);
    const double growth = before > 0 ? (peak - before) / before : peak > 0 ? 1.0 : 0.0;
    add_level(RuleKind::max_growth, *rules.max_growth, growth, doubt_of(before * (1 + *rules.max_growth)),
              report.peak.event, most);
    if (!baseline->is_known) {
      found.back().kept = false;
      found.back().undecided = Undecided::baseline;
    }
  }
  return found;
}

}  // namespace gpustrata::analysis
