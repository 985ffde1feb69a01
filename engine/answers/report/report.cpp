#include "engine/answers/report/report.h"

#include "engine/analysis/report/summary.h"

#include <cmath>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/findings/fragmentation.h"
#include "engine/answers/findings/never_full.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/live/repeats.h"
#include "engine/answers/live/top.h"
#include "engine/answers/report/report_findings.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/steps/steps_text.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

using analysis::StepsFrom;

namespace {

constexpr auto kStepsFrom = words_up_to<StepsFrom::loop>("", "annotations", "regions", "loop");

[[nodiscard]] double rounded(double share) { return std::round(share * 10'000) / 10'000; }

void describe_peak(Members& m, const model::Recording& recording, const analysis::Top& peak) {
  m.count("event", peak.event);
  m.bytes("requested_bytes", peak.bytes);
  m.count("blocks", peak.blocks);
  m.list("parts", peak.groups, [&](const analysis::TopGroup& part) {
    describe_stack(m, recording, part.stack);
    m.bytes("bytes", part.bytes);
    m.count("blocks", part.blocks);
    m.text("who", [&] { return who_or_none(recording, analysis::who_of(recording, part.stack)); });
    m.rank({"rank", "Of the largest block."}, part.largest);
  });
  m.bytes("rest_bytes", peak.other_bytes);
  m.count("rest_blocks", peak.other_blocks);
  m.count("rest_parts", peak.other_groups());
}

void describe_steps(Members& m, const model::Recording& recording, const analysis::Steps& steps) {
  m.count("count", steps.count());
  m.word("from", kStepsFrom, steps.from);
  m.text({"name", "Of the region, or the loop in words."}, [&] {
    std::optional<std::string> name;
    if (!steps.name.is_none()) name = recording.strings.view(steps.name);
    if (steps.from == StepsFrom::loop) name = loop_text(recording, steps.loop);
    return name;
  });
  m.share({"sure", "0 to 1."}, rounded(steps.sureness));
  m.text({"why_not", "None were found."}, [&] { return or_none(std::string(why_no_steps(steps.why_not))); });
}

void describe_leak(Members& m, const model::Recording& recording, const analysis::Steps& steps,
                   const analysis::Leak& leak) {
  const analysis::Who who = m.found([&] { return analysis::who_of(recording, leak.stack); });
  describe_stack(m, recording, leak.stack);
  m.bytes("bytes_per_step", leak.bytes_per_step);
  m.count("blocks_per_step", leak.blocks_per_step);
  m.count("steps", leak.steps);
  m.count({"first_step", "From 0."}, leak.first_step);
  m.count({"gap", "Steps from one to the next."}, leak.gap);
  m.object({"inner", "A loop within the step, which repeats what stays."},
           leak.inner.is_none() ? nullptr : &leak, [&](const analysis::Leak& of) {
             m.text("line", [&] { return analysis::frame_text(recording, of.inner); });
             m.count("repeats", of.inner_repeats);
           });
  m.count({"freed_event", "All are freed there, after the steps; null = they are not."},
          leak.freed_event < 0 ? std::nullopt : std::optional(leak.freed_event));
  m.bytes("live_bytes", leak.live_bytes);
  m.count("live_blocks", leak.live_blocks);
  m.share({"confidence", "0 to 1."}, leak.confidence);
  m.text("who", [&] { return who_or_none(recording, who); });
  m.rank({"rank", "Of the largest block."}, leak.largest_rank);
  m.text("filter", [&] { return filter_text(recording, who, leak_terms(steps, leak)); });
}

// Of a profiler's trace only what its records say.
void describe_reserved(Members& m, const analysis::Report& report) {
  const analysis::Use& highest = report.overview.highest_reserved;
  const std::optional<analysis::ReservedUse>& use = report.highest;
  const auto if_known = [&](int64_t analysis::ReservedUse::*bytes) {
    return use ? std::optional((*use).*bytes) : std::nullopt;
  };
  m.count("event", highest.event);
  m.bytes("reserved_bytes", use ? use->reserved : highest.reserved.value_or(0));
  m.bytes("requested_bytes", use ? use->requested : highest.requested);
  m.bytes({"rounding_bytes", "Null of a profiler's trace, as the next two."},
          if_known(&analysis::ReservedUse::rounding));
  m.bytes({"pending_bytes", "A part of the requested ones."}, if_known(&analysis::ReservedUse::pending));
  m.bytes("cached_bytes", if_known(&analysis::ReservedUse::cached));
}

}  // namespace

std::string_view name_of(StepsFrom from) { return kStepsFrom[from]; }

void describe(Members& m, const analysis::EventContext& context, const DeviceReport& device) {
  const model::Recording& recording = context.recording;
  const analysis::Report& report = m.of(device.report);
  m.is({"Report", "The answers about a device."});
  if (const auto there = m.when(!device.snapshot.empty())) m.text("snapshot", device.snapshot);
  m.count("device", report.overview.device);
  m.flag(
      {"complete",
       "False: it ends at a request that failed, in a journal that its program did not end, or where its file is damaged or cut "
       "off, and what came after is not in it."},
      [&] { return report.ending.is_complete(); });
  m.list({"findings", "The most important first."}, [&] { return findings_of(context, report); });
  m.object({"peak", "Parts and rest add up to `requested_bytes`."},
           [&] { describe_peak(m, recording, report.peak); });
  m.list({"repeats", "What the peak has several times over; outer levels before inner ones."}, report.repeats,
         [&](const analysis::Repeat& repeat) { describe(m, recording, repeat); });
  const analysis::Steps& steps = m.is_schema() ? Members::sample<analysis::Steps>() : *report.steps;
  m.object("steps", [&] { describe_steps(m, recording, steps); });
  m.list("leaks", report.leaks.leaks,
         [&](const analysis::Leak& leak) { describe_leak(m, recording, steps, leak); });
  m.count("leaks_left_out", report.leaks.left_out);
  m.object("cache_flushes", [&] {
    m.count({"retries", "Requests that were served after the cache was emptied for them."},
            report.cache_flushes.retries.count);
    m.bytes("retry_bytes", report.cache_flushes.retries.bytes);
    m.count({"failed", "Requests that were out of memory all the same."}, report.cache_flushes.failed.count);
    m.bytes("failed_bytes", report.cache_flushes.failed.bytes);
    m.count({"flushes", "By empty_cache(), a collection of garbage, the end of a pool."},
            report.cache_flushes.flushes.count);
    m.bytes("flush_bytes", report.cache_flushes.flushes.bytes);
    m.count({"unclear", "One or the other, before more was asked of the device."},
            report.cache_flushes.unclear.count);
    m.bytes("unclear_bytes", report.cache_flushes.unclear.bytes);
  });
  m.object({"reserved_peak", "Where most was reserved: requested, rounding and cached add up to it."},
           report.overview.highest_reserved.reserved ? &report : nullptr,
           [&](const analysis::Report& of) { describe_reserved(m, of); });
  m.list("oom", report.out_of_memory.explained,
         [&](const analysis::ExplainedOutOfMemory& one) { describe(m, recording, one); });
  m.count({"oom_left_out", "Earlier ones."},
          report.out_of_memory.all - static_cast<int64_t>(report.out_of_memory.explained.size()));
  m.object({"fragmentation", "Null of a profiler's trace."}, report.fragmentation,
           [&](const analysis::Fragmentation& found) {
             m.is({"FragmentationNumbers", "After an event."});
             describe_numbers(m, context, found);
             if (const auto there = m.when(report.never_full.has_value()))
               m.object("never_full", [&] {
                 describe(m, context,
                          m.is_schema() ? Members::sample<analysis::NeverFull>() : *report.never_full);
               });
           });
  m.list({"categories", "They add up to the peak."},
         m.found([&] { return report.categories_at_peak.sums.rows().span(); }),
         [&](const analysis::BlockSum& share) {
           const auto number = static_cast<size_t>(share.key);
           m.text("name", [&] { return std::string_view(device.rules.names[number]); });
           m.bytes("bytes_at_peak", share.bytes);
           m.count("blocks", share.blocks);
           m.share({"sure", "0 to 1."}, [&] { return rounded(report.categories_at_peak.sure[number]); });
         });
}

void describe(Members& m, const ReportLine& line) {
  m.line({"report --json", "The answers about each device of a file."});
  m.text("file", line.file);
  m.text("format", line.format);
  m.each<analysis::EventContext, DeviceReport>(
      "devices", line.devices, [&](const analysis::EventContext& context, const DeviceReport& device) {
        describe(m, context, device);
      });
  m.list("diagnostics", [&] { return analysis::findings(line.diagnostics); });
}

}  // namespace gpustrata::answers
