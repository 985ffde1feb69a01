// Rules that a recording must keep: `gpustrata check`, for continuous integration.
//
// A rule is measured over all devices that are asked for; the worst of them is its value. Bytes of `max_peak` are
// requested ones, by the rule of the timeline; those of `max_reserved` are segments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/report.h"

namespace gpustrata::analysis {

enum class RuleKind : uint8_t { max_peak, max_reserved, no_oom, no_leak, max_fragmentation, max_growth };

struct CheckRules {
  std::optional<int64_t> max_peak, max_reserved;
  bool no_oom = false, no_leak = false;
  std::optional<double> max_fragmentation;  // share of reserved (Fragmentation::share)
  std::optional<double> max_growth;         // share of the baseline's peak; 0 = none

  [[nodiscard]] bool any() const {
    return max_peak || max_reserved || no_oom || no_leak || max_fragmentation || max_growth;
  }
};

// What a rule measured on one device.
struct CheckedRule {
  RuleKind kind;
  bool kept = true;
  double limit = 0;  // bytes, a number of things, or a share
  std::optional<double>
      value;  // none: the file does not say, so the rule is neither kept nor broken; `kept` is false
  int32_t device = 0;
  int32_t event = -1;  // where; -1 = the state before the first, or nowhere
  StackId stack;       // of a leak, of a failed request, of what holds most at the peak; none = not known
};

// `baseline_peak`: of the same device before; only max_growth reads it.
[[nodiscard]] std::vector<CheckedRule> check_device(const Report& report, const CheckRules& rules,
                                                    std::optional<int64_t> baseline_peak);

}  // namespace gpustrata::analysis
