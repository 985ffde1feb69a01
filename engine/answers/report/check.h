// What `gpustrata check` found, in lines, as JSON and as JUnit's XML.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/analysis/report/check.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "max_peak", "max_reserved", "no_oom", "no_leak", "max_fragmentation", "max_growth"
[[nodiscard]] std::string_view name_of(analysis::RuleKind kind);
// "ok      max_peak           device 0: 18.2 GiB of at most 20.0 GiB, after event 57, forward model.py:12"
[[nodiscard]] std::string check_line(const model::Recording& recording, const analysis::CheckedRule& rule);
// "unknown" where it cannot be decided, with what is to be recorded for it.
void describe(Members& m, const model::Recording& recording, const analysis::CheckedRule& rule);
// A <testcase> of a suite; `suite` is the file.
[[nodiscard]] std::string junit_case(const model::Recording& recording, const analysis::CheckedRule& rule,
                                     std::string_view suite);

// {"file","kept","rules":[these]}, for which the rules are held until it is known whether all are kept.
class CheckLine {
 public:
  void add(const model::Recording& recording, const analysis::CheckedRule& rule) {
    to_json(rules_, recording, rule);
  }
  void write(TextOut& out, std::string_view file, std::optional<bool> kept) const;

 private:
  JsonWriter rules_;
};

}  // namespace gpustrata::answers
