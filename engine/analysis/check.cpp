#include "engine/analysis/check.h"

namespace gpustrata::analysis {

std::vector<CheckedRule> check_device(const Report& report, const CheckRules& rules,
                                      std::optional<int64_t> baseline_peak) {
  std::vector<CheckedRule> found;
  const auto add = [&](RuleKind kind, double limit, std::optional<double> value, int32_t event,
                       StackId stack) {
    found.push_back({kind, value && *value <= limit, limit, value, report.overview.device, event, stack});
  };
  const auto peak = static_cast<double>(report.peak.bytes);
  const StackId most = report.peak.groups.empty() ? StackId{} : report.peak.groups[0].stack;
  if (rules.max_peak)
    add(RuleKind::max_peak, static_cast<double>(*rules.max_peak), peak, report.peak.event, most);
  if (rules.max_reserved) {
    const Use& use = report.overview.highest_reserved;
    std::optional<double> reserved;
    if (use.reserved) reserved = static_cast<double>(*use.reserved);
    add(RuleKind::max_reserved, static_cast<double>(*rules.max_reserved), reserved, use.event, {});
  }
  if (rules.no_oom) {
    const auto& all = report.out_of_memory.explained;
    add(RuleKind::no_oom, 0, static_cast<double>(report.out_of_memory.all),
        all.empty() ? -1 : all.back().event, all.empty() ? StackId{} : all.back().stack);
  }
  if (rules.no_leak) {
    const auto& leaks = report.leaks.leaks;
    add(RuleKind::no_leak, 0, static_cast<double>(leaks.size()) + static_cast<double>(report.leaks.left_out),
        leaks.empty() ? -1 : report.steps->begin[leaks[0].first_step],
        leaks.empty() ? StackId{} : leaks[0].stack);
  }
  if (rules.max_fragmentation)
    add(RuleKind::max_fragmentation, *rules.max_fragmentation,
        report.fragmentation ? std::optional(report.fragmentation->share()) : std::nullopt,
        report.fragmentation ? report.fragmentation->event : -1, {});
  if (rules.max_growth && baseline_peak) {
    const auto before = static_cast<double>(*baseline_peak);
    const double growth = before > 0 ? (peak - before) / before : peak > 0 ? 1.0 : 0.0;
    add(RuleKind::max_growth, *rules.max_growth, growth, report.peak.event, most);
  }
  return found;
}

}  // namespace gpustrata::analysis
