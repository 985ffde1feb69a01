#include "engine/answers/report/report.h"

#include "engine/analysis/report/summary.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/findings/fragmentation.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/live/top.h"
#include "engine/answers/report/report_findings.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/steps/steps_text.h"

namespace gpustrata::answers {

using analysis::StepsFrom;

namespace {

[[nodiscard]] double rounded(double share) { return std::round(share * 10'000) / 10'000; }

void peak_to_json(JsonWriter& json, const model::Recording& recording, const analysis::Top& peak) {
  json.key("peak");
  json.begin_object();
  json.member("event", peak.event);
  json.member("requested_bytes", peak.bytes);
  json.member("blocks", peak.blocks);
  json.key("parts");
  json.begin_array();
  for (const analysis::TopGroup& part : peak.groups) {
    json.begin_object();
    stack_to_json(json, recording, part.stack);
    json.member("bytes", part.bytes);
    json.member("blocks", part.blocks);
    who_to_json(json, recording, analysis::who_of(recording, part.stack));
    json.member("rank", part.largest);
    json.end_object();
  }
  json.end_array();
  json.member("rest_bytes", peak.other_bytes);
  json.member("rest_blocks", peak.other_blocks);
  json.member("rest_parts", peak.other_groups());
  json.end_object();
}

void steps_to_json(JsonWriter& json, const model::Recording& recording, const analysis::Steps& steps) {
  json.key("steps");
  json.begin_object();
  json.member("count", steps.count());
  const bool known = steps.from != StepsFrom::nothing;
  json.member("from", known ? std::optional(name_of(steps.from)) : std::nullopt);
  std::optional<std::string> name;
  if (!steps.name.is_none()) name = recording.strings.view(steps.name);
  if (steps.from == StepsFrom::loop) name = loop_text(recording, steps.loop);
  json.member("name", name);
  json.member("sure", rounded(steps.sureness));
  const std::string_view why_not = why_no_steps(steps.why_not);
  json.member("why_not", why_not.empty() ? std::nullopt : std::optional(why_not));
  json.end_object();
}

void leaks_to_json(JsonWriter& json, const model::Recording& recording, const analysis::Leaks& leaks,
                   const analysis::Steps& steps) {
  json.key("leaks");
  json.begin_array();
  for (const analysis::Leak& leak : leaks.leaks) {
    json.begin_object();
    stack_to_json(json, recording, leak.stack);
    json.member("bytes_per_step", leak.bytes_per_step);
    json.member("blocks_per_step", leak.blocks_per_step);
    json.member("steps", leak.steps);
    json.member("first_step", leak.first_step);
    json.member("gap", leak.gap);
    json.key("inner");
    if (leak.inner.is_none()) {
      json.null();
    } else {
      json.begin_object();
      json.member("line", analysis::frame_text(recording, leak.inner));
      json.member("repeats", leak.inner_repeats);
      json.end_object();
    }
    json.member("freed_event", leak.freed_event < 0 ? std::nullopt : std::optional(leak.freed_event));
    json.member("live_bytes", leak.live_bytes);
    json.member("live_blocks", leak.live_blocks);
    json.member("confidence", leak.confidence);
    const analysis::Who who = analysis::who_of(recording, leak.stack);
    who_to_json(json, recording, who);
    json.member("rank", leak.largest_rank);
    json.member("filter", filter_text(recording, who, leak_terms(steps, leak)));
    json.end_object();
  }
  json.end_array();
  json.member("leaks_left_out", leaks.left_out);
}

// Of a profiler's trace only what its records say; null if they say nothing.
void reserved_to_json(JsonWriter& json, const analysis::Report& report) {
  json.key("reserved_peak");
  const analysis::Use& highest = report.overview.highest_reserved;
  if (!highest.reserved) return json.null();
  const std::optional<analysis::ReservedUse>& use = report.highest;
  const auto if_known = [&](int64_t analysis::ReservedUse::*bytes) {
    return use ? std::optional((*use).*bytes) : std::nullopt;
  };
  json.begin_object();
  json.member("event", highest.event);
  json.member("reserved_bytes", use ? use->reserved : *highest.reserved);
  json.member("requested_bytes", use ? use->requested : highest.requested);
  json.member("rounding_bytes", if_known(&analysis::ReservedUse::rounding));
  json.member("pending_bytes", if_known(&analysis::ReservedUse::pending));
  json.member("cached_bytes", if_known(&analysis::ReservedUse::cached));
  json.end_object();
}

}  // namespace

std::string_view name_of(StepsFrom from) {
  switch (from) {
    case StepsFrom::annotations:
      return "annotations";
    case StepsFrom::regions:
      return "regions";
    case StepsFrom::loop:
      return "loop";
    case StepsFrom::nothing:
      break;
  }
  return "";
}

void to_json(JsonWriter& json, std::string_view snapshot, const analysis::EventContext& context,
             const analysis::Report& report, const analysis::CategoryRules& rules) {
  json.begin_object();
  if (!snapshot.empty()) json.member("snapshot", snapshot);
  const model::Recording& recording = context.recording;
  json.member("device", report.overview.device);
  json.member("complete", !report.ending.at_failure());
  json.key("findings");
  json.begin_array();
  for (const ReportFinding& finding : findings_of(context, report)) to_json(json, finding);
  json.end_array();
  peak_to_json(json, recording, report.peak);
  steps_to_json(json, recording, *report.steps);
  leaks_to_json(json, recording, report.leaks, *report.steps);
  const analysis::CacheFlushes& flushes = report.cache_flushes;
  json.key("cache_flushes");
  json.begin_object();
  json.member("retries", flushes.retries);
  json.member("retry_bytes", flushes.retry_bytes);
  json.member("flushes", flushes.flushes);
  json.member("flush_bytes", flushes.flush_bytes);
  json.end_object();
  reserved_to_json(json, report);
  json.key("oom");
  to_json(json, recording, report.out_of_memory);
  json.member("oom_left_out",
              report.out_of_memory.all - static_cast<int64_t>(report.out_of_memory.explained.size()));
  json.key("fragmentation");
  if (report.fragmentation) {
    to_json(json, context, *report.fragmentation, report.never_full);
  } else {
    json.null();
  }
  json.key("categories");
  json.begin_array();
  const analysis::CategorySums& categories = report.categories_at_peak;
  for (const analysis::BlockSum& share : categories.sums.rows()) {
    const auto number = static_cast<size_t>(share.key);
    json.begin_object();
    json.member("name", rules.names[number]);
    json.member("bytes_at_peak", share.bytes);
    json.member("blocks", share.blocks);
    json.member("sure", rounded(categories.sure[number]));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

ReportLine::ReportLine(TextOut& out, std::string_view file, std::string_view format)
    : out_(out), json_(out.json()) {
  json_.begin_object();
  json_.member("file", file);
  json_.member("format", format);
  json_.key("devices");
  json_.begin_array();
}

void ReportLine::add(std::string_view snapshot, const analysis::EventContext& context,
                     const analysis::Report& report, const analysis::CategoryRules& rules) {
  to_json(json_, snapshot, context, report, rules);
}

void ReportLine::end(const model::Diagnostics& diagnostics) {
  json_.end_array();
  json_.key("diagnostics");
  to_json(json_, analysis::findings(diagnostics));
  json_.end_object();
  out_.end_line(json_);
}

}  // namespace gpustrata::answers
