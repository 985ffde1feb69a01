#include "engine/answers/report/check.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/answers/common/moment.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/markup.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::CheckedRule;
using analysis::RuleKind;
using analysis::Undecided;
using analysis::Who;

namespace {

[[nodiscard]] int64_t whole(double value) {
  return value < 9e18 ? static_cast<int64_t>(std::llround(value)) : INT64_MAX;
}

struct UndecidedWords {
  std::string_view name, reason;
};
[[nodiscard]] UndecidedWords words_for(const CheckedRule& rule) {
  switch (rule.undecided) {
    case Undecided::no:
      break;
    case Undecided::not_told:
      return {"not_told", rule.kind == RuleKind::max_fragmentation
                              ? "a profiler's trace does not say how the reserved memory is cut"
                              : "the trace does not say what was reserved"};
    case Undecided::no_history:
      return {"no_history",
              "no history was recorded; call torch.cuda.memory._record_memory_history() before the run"};
    case Undecided::events_lost:
      return {
          "events_lost",
          "the history may lack its beginning, or the program recorded once before; record with a larger max_entries, or without "
          "that limit, and once"};
    case Undecided::incomplete:
      return {"incomplete", "the file is damaged or ends too early; gpustrata summary says where"};
    case Undecided::not_ended:
      return {"not_ended", "the program did not end its journal: it was killed, or it still ran"};
    case Undecided::ends_out_of_memory:
      return {
          "ends_out_of_memory",
          "the recording has no allocation after a request that ran out of memory; the whole run may need more"};
    case Undecided::starts_in_use:
      return {
          "starts_in_use",
          "more was reserved before the first event, and how much of that was in use before is not in it; begin to record "
          "before the model is made"};
    case Undecided::segments_missing:
      return {"segments_missing", "segment events are missing, so what was reserved is not known"};
    case Undecided::steps_of_trace:
      return {"steps_of_trace",
              "steps are not looked for in a profiler's trace, nor leaks; record a memory snapshot"};
    case Undecided::no_steps:
      return {"no_steps", "no steps were found; mark each with torch.profiler.record_function(\"step\")"};
    case Undecided::few_steps:
      return {"few_steps", "there are too few steps; record four at least"};
    case Undecided::unsure_leak:
      return {
          "unsure_leak",
          "what grows did so in too few steps to be sure, not in all of them, no more in the last one, or irregularly; record "
          "more steps"};
    case Undecided::guessed_steps:
      return {
          "guessed_steps",
          "steps are guessed from what repeats, and so is what grows from one to the next; mark each with "
          "torch.profiler.record_function(\"step\")"};
    case Undecided::baseline:
      return {"baseline", "the baseline's recording does not show the peak of its whole run"};
  }
  return {};
}

[[nodiscard]] std::string value_text(const CheckedRule& rule) {
  switch (rule.kind) {
    case RuleKind::max_peak:
    case RuleKind::max_reserved:
      return fmt::format("{} of at most {}", exact_size_text(whole(*rule.value)),
                         size_text(whole(rule.limit)));
    case RuleKind::no_oom:
      return "out of memory " + counted(whole(*rule.value), "time");
    case RuleKind::no_leak:
      return counted(whole(*rule.value), "leaking stack");
    case RuleKind::max_fragmentation:
      return fmt::format("{:.3f} of at most {:.3f} of what is reserved", *rule.value, rule.limit);
    case RuleKind::max_growth:
      break;
  }
  return fmt::format("{:+.2f} % of at most {:+.2f} % since the baseline", 100 * *rule.value,
                     100 * rule.limit);
}

[[nodiscard]] std::string device_of(const CheckedRule& rule) {
  return rule.is_processor ? "the processor (CPU)" : device_text(rule.device);
}

[[nodiscard]] std::string place_of_rule(const model::Recording& recording, const CheckedRule& rule) {
  const bool is_decided = rule.undecided == Undecided::no;
  std::string text = device_of(rule) + ": ";
  if (!is_decided) text += fmt::format("this cannot be checked: {}", words_for(rule).reason);
  // "0 leaking stacks" would say too much.
  const bool says_more = rule.value && (is_decided || *rule.value > 0);
  if (says_more) text += (is_decided ? "" : "; recorded: ") + value_text(rule);
  if (!says_more) return text;
  if (rule.event >= 0) text += fmt::format(", event {}", count_text(rule.event));
  const Who who = analysis::who_of(recording, rule.stack);
  if (who.kind != Who::Kind::nothing) text += ", " + who_text(recording, who);
  return text;
}

}  // namespace

std::string_view name_of(RuleKind kind) { return word_for(kind); }

std::string check_line(const model::Recording& recording, const CheckedRule& rule) {
  return fmt::format("{:<7} {:<17}  {}",
                     rule.undecided != Undecided::no ? "unknown"
                     : rule.kept                     ? "ok"
                                                     : "broken",
                     name_of(rule.kind), place_of_rule(recording, rule));
}

void describe(Members& m, const model::Recording& recording, const CheckedRule& rule) {
  const bool is_decided = rule.undecided == Undecided::no;
  m.word("rule", rule.kind);
  m.flag({"kept", "Null: it cannot be decided."}, is_decided ? std::optional(rule.kept) : std::nullopt);
  m.count("device", rule.device);
  m.flag({"is_processor", "Of a profiler's trace, which calls that device 0, too."}, rule.is_processor);
  const bool is_share = rule.kind == RuleKind::max_fragmentation || rule.kind == RuleKind::max_growth;
  if (m.is_schema() || is_share) {
    m.number({"value", "What the recording shows; null: nothing."}, rule.value);
    m.number("limit", rule.limit);
  } else {
    m.number("value", rule.value ? std::optional(whole(*rule.value)) : std::nullopt);
    m.number("limit", whole(rule.limit));
  }
  m.count({"event", "-1 = none."}, rule.event);
  m.text("who", [&] { return who_or_none(recording, analysis::who_of(recording, rule.stack)); });
  m.text({"undecided", "Why it cannot be decided."},
         [&] { return or_none(std::string(words_for(rule).name)); });
}

void describe(Members& m, const CheckLine& line) {
  m.line({"check --json", "Which rules a file keeps."});
  m.text("file", line.file);
  m.flag({"kept", "All of them; null: none is broken, but one at least cannot be decided."}, line.kept);
  m.list({"rules", "Each for every device."}, line.rules,
         [&](const CheckedRule& rule) { describe(m, m.of(line.recording), rule); });
}

std::string junit_case(const model::Recording& recording, const CheckedRule& rule, std::string_view suite) {
  const std::string name = fmt::format("{}, {}", name_of(rule.kind), device_of(rule));
  std::string text =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\"", escaped_markup(suite), escaped_markup(name));
  if (rule.kept) return text + "/>\n";
  return text + fmt::format("><{} message=\"{}\"/></testcase>\n",
                            rule.undecided == Undecided::no ? "failure" : "error",
                            escaped_markup(place_of_rule(recording, rule)));
}

}  // namespace gpustrata::answers
