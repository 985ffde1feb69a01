#include "engine/answers/check.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/answers/who.h"
#include "engine/base/markup.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::CheckedRule;
using analysis::RuleKind;
using analysis::Who;

namespace {

[[nodiscard]] int64_t whole(double value) {
  return value < 9e18 ? static_cast<int64_t>(std::llround(value)) : INT64_MAX;
}

[[nodiscard]] std::string value_text(const CheckedRule& rule) {
  if (!rule.value) {
    return rule.kind == RuleKind::max_fragmentation
               ? "this cannot be checked: a profiler's trace does not say how the reserved memory is cut"
               : "this cannot be checked: the trace does not say what was reserved";
  }
  switch (rule.kind) {
    case RuleKind::max_peak:
    case RuleKind::max_reserved:
      return fmt::format("{} of at most {}", exact_size_text(whole(*rule.value)),
                         size_text(whole(rule.limit)));
    case RuleKind::no_oom:
      return fmt::format("out of memory {} times", count_text(whole(*rule.value)));
    case RuleKind::no_leak:
      return fmt::format("{} leaking stacks", count_text(whole(*rule.value)));
    case RuleKind::max_fragmentation:
      return fmt::format("{:.3f} of at most {:.3f} of what is reserved", *rule.value, rule.limit);
    case RuleKind::max_growth:
      break;
  }
  return fmt::format("{:+.2f} % of at most {:+.2f} % since the baseline", 100 * *rule.value,
                     100 * rule.limit);
}

[[nodiscard]] std::string place_text(const model::Recording& recording, const CheckedRule& rule) {
  std::string text = fmt::format("device {}: {}", rule.device, value_text(rule));
  if (rule.event >= 0) text += fmt::format(", event {}", count_text(rule.event));
  const Who who = analysis::who_of(recording, rule.stack);
  if (who.kind != Who::Kind::nothing) text += ", " + who_text(recording, who);
  return text;
}

}  // namespace

std::string_view name_of(RuleKind kind) {
  switch (kind) {
    case RuleKind::max_peak:
      return "max_peak";
    case RuleKind::max_reserved:
      return "max_reserved";
    case RuleKind::no_oom:
      return "no_oom";
    case RuleKind::no_leak:
      return "no_leak";
    case RuleKind::max_fragmentation:
      return "max_fragmentation";
    case RuleKind::max_growth:
      break;
  }
  return "max_growth";
}

std::string check_line(const model::Recording& recording, const CheckedRule& rule) {
  return fmt::format("{:<7} {:<17}  {}",
                     !rule.value ? "unknown"
                     : rule.kept ? "ok"
                                 : "broken",
                     name_of(rule.kind), place_text(recording, rule));
}

void to_json(JsonWriter& json, const model::Recording& recording, const CheckedRule& rule) {
  json.begin_object();
  json.member("rule", name_of(rule.kind));
  json.member("kept", rule.value ? std::optional(rule.kept) : std::nullopt);
  json.member("device", rule.device);
  if (rule.kind == RuleKind::max_fragmentation || rule.kind == RuleKind::max_growth) {
    json.member("value", rule.value);
    json.member("limit", rule.limit);
  } else {
    json.member("value", rule.value ? std::optional(whole(*rule.value)) : std::nullopt);
    json.member("limit", whole(rule.limit));
  }
  json.member("event", rule.event);
  who_to_json(json, recording, analysis::who_of(recording, rule.stack));
  json.end_object();
}

std::string junit_case(const model::Recording& recording, const CheckedRule& rule, std::string_view suite) {
  const std::string name = fmt::format("{}, device {}", name_of(rule.kind), rule.device);
  std::string text =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\"", escaped_markup(suite), escaped_markup(name));
  if (rule.kept) return text + "/>\n";
  return text + fmt::format("><{} message=\"{}\"/></testcase>\n", rule.value ? "failure" : "error",
                            escaped_markup(place_text(recording, rule)));
}

void CheckLine::write(TextOut& out, std::string_view file, std::optional<bool> kept) const {
  JsonWriter json = out.json();
  json.begin_object();
  json.member("file", file);
  json.member("kept", kept);
  json.key("rules");
  json.raw(fmt::format("[{}]", rules_.text()));
  json.end_object();
  out.end_line(json);
}

}  // namespace gpustrata::answers
