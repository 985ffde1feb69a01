// What `gpustrata check` found, in lines, as JSON and as JUnit's XML.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/report/check.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "max_peak", "max_reserved", "no_oom", "no_leak", "max_fragmentation", "max_growth"
[[nodiscard]] std::string_view name_of(analysis::RuleKind kind);
// "unknown" where it cannot be decided, with what is to be recorded for it; else
// "ok      max_peak           device 0: 18.2 GiB of at most 20.0 GiB, after event 57, forward model.py:12"
[[nodiscard]] std::string check_line(const model::Recording& recording, const analysis::CheckedRule& rule);
void describe(Members& m, const model::Recording& recording, const analysis::CheckedRule& rule);
// A <testcase> of a suite; `suite` is the file.
[[nodiscard]] std::string junit_case(const model::Recording& recording, const analysis::CheckedRule& rule,
                                     std::string_view suite);

struct CheckLine {
  const model::Recording& recording;
  std::string_view file;
  std::optional<bool> kept;
  std::span<const analysis::CheckedRule> rules;
};
void describe(Members& m, const CheckLine& line);

}  // namespace gpustrata::answers
