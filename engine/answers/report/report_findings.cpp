#include "engine/answers/report/report_findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/analysis/details/memory_after.h"
#include "engine/answers/findings/out_of_memory.h"
#include "engine/answers/live/repeats.h"
#include "engine/answers/report/missing.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/steps/steps_text.h"
#include "engine/answers/text/bounded.h"
#include "engine/answers/text/percent.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"
#include "engine/model/processor.h"
#include "engine/replay/links.h"

namespace gpustrata::answers {

using analysis::Report;
using analysis::Who;

namespace {

constexpr std::string_view kMore[] = {"", "oom", "leaks", "fragmentation"};
constexpr size_t kMostLeaksSaid = 3, kMostPinsSaid = 2;
constexpr double kMuchHeldBack = 0.05;  // of what is reserved
constexpr double kMuchUnused = 0.1;     // the same
constexpr double kMuchKept = 0.1;       // of the peak

[[nodiscard]] double share_of(int64_t bytes, int64_t of) {
  return of > 0 ? static_cast<double>(bytes) / static_cast<double>(of) : 0.0;
}
[[nodiscard]] std::string by_text(const model::Recording& recording, const Who& who) {
  return who.kind == Who::Kind::nothing ? std::string() : ", by " + who_text(recording, who);
}

// `says`: {0} the bytes, {1} how often.
struct FlushTexts {
  analysis::CacheFlushes::Runs analysis::CacheFlushes::*runs;
  std::string_view kind, title, says;
};
constexpr FlushTexts kFlushTexts[] = {
    {&analysis::CacheFlushes::retries, "retries", "Cache flushed and retried",
     "The device or a limit was full {1}: PyTorch returned {0} of cached memory before it could "
     "serve a request. The program waited for the device meanwhile."},
    {&analysis::CacheFlushes::failed, "failed_retries", "Cache emptied in vain",
     "PyTorch returned {0} of cached memory to the device, {1}, for a request that ran out of "
     "memory all the same."},
    {&analysis::CacheFlushes::unclear, "unclear_flushes", "Cache emptied, or device full",
     "{0} of cached memory was returned to the device, {1}, before more was requested: the "
     "device was full, garbage was collected, or the program called empty_cache(). The recording "
     "does not say which."},
    {&analysis::CacheFlushes::flushes, "flushes", "Cache emptied",
     "{0} of cached memory was returned to the device, {1}: by empty_cache(), by garbage "
     "collection, or because a pool was released. Later requests have to ask the device again."}};

[[nodiscard]] std::string flush_text(const FlushTexts& one, const analysis::CacheFlushes::Runs& runs) {
  return fmt::format(fmt::runtime(one.says), size_text(runs.bytes), counted(runs.count, "time"));
}

class Findings {
 public:
  Findings(const analysis::EventContext& context, const Report& report)
      : context_(context), recording_(context.recording), report_(report) {}

  [[nodiscard]] std::vector<ReportFinding> all() {
    out_of_memory();
    leaks();
    const auto& pieces = report_.harmful_fragmentation;
    const bool in_pieces = pieces && is_worth_saying(*pieces);
    if (in_pieces && pieces->share() >= kBadlyFragmented) fragmentation(*pieces, true);
    peak();
    if (in_pieces && pieces->share() < kBadlyFragmented) fragmentation(*pieces, false);
    reserved();
    flushes();
    kept();
    from_before();
    missing();
    about();
    return std::move(found_);
  }

 private:
  static constexpr double kBadlyFragmented = 0.5;

  ReportFinding& add(std::string kind, std::string title, int64_t bytes) {
    ReportFinding finding;
    finding.kind = std::move(kind);
    finding.title = std::move(title);
    finding.value = size_text(bytes);
    finding.bytes = bytes;
    found_.push_back(std::move(finding));
    return found_.back();
  }

  void out_of_memory() {
    if (report_.out_of_memory.explained.empty()) return;
    const analysis::ExplainedOutOfMemory& one = report_.out_of_memory.explained.back();
    ReportFinding& finding = add("oom", "Out of memory", one.requested);
    finding.bad = true;
    if (report_.out_of_memory.all > 1)
      finding.says.push_back(
          {fmt::format("{} times; this is the last one.", count_text(report_.out_of_memory.all)),
           {.event = one.event, .more = "oom"}});
    finding.says.push_back({verdict_text(recording_, one), {.event = one.event}});
    for (const analysis::Remedy& remedy : one.remedies) {
      if (!remedy.bytes) continue;
      finding.says.push_back(
          {"What helps most: " + remedy_text(recording_, one, remedy),
           {.event = one.event,
            .filter = filter_text(recording_, remedy.who, fmt::format("alive@{}", one.event)),
            .more = "oom"}});
      finding.code = code_of(remedy.kind);
      break;
    }
  }

  void leaks() {
    const auto& all = report_.leaks.leaks;
    if (all.empty()) return;
    const bool sure = sure_leaks(report_.leaks) > 0;
    const std::string_view title = all.size() == 1 ? sure ? "A leak" : "Possible leak"
                                   : sure          ? "Leaks"
                                                   : "Possible leaks";
    ReportFinding& finding = add("leaks", std::string(title), report_.leaks.live_bytes);
    finding.bad = sure;
    for (size_t i = 0; i < std::min(all.size(), kMostLeaksSaid); ++i) {
      const analysis::Leak& leak = all[i];
      const Who who = analysis::who_of(recording_, leak.stack);
      finding.says.push_back({leak_text(recording_, leak),
                              {.rank = leak.largest_rank,
                               .filter = filter_text(recording_, who, leak_terms(*report_.steps, leak))}});
    }
    const int64_t more =
        static_cast<int64_t>(all.size()) + report_.leaks.left_out - static_cast<int64_t>(finding.says.size());
    if (more > 0)
      finding.says.push_back(
          {fmt::format("{} grew from step to step.", counted(more, "more stack")), {.more = "leaks"}});
    const analysis::Steps& steps = *report_.steps;
    if (const std::string full = full_text(context_, report_); !full.empty())
      finding.says.push_back({full, {.more = "leaks"}});
    if (steps.from == analysis::StepsFrom::loop)
      finding.says.push_back({fmt::format("Each step is {}; it runs {} times.",
                                          loop_text(recording_, steps.loop), count_text(steps.count())),
                              {.event = steps.begin[0]}});
  }

  void peak() {
    const analysis::Top& top = report_.peak_groups;
    const analysis::Overview& overview = report_.overview;
    const bool has_history = overview.events > 0;
    ReportFinding& finding =
        add("peak", has_history ? "Peak" : "In use when it was saved", overview.peak_bytes);
    finding.says.push_back(
        {has_history ? fmt::format("Reached {} of {}, in {}.", after_text(overview.peak_event),
                                   count_text(overview.events), counted(report_.peak.blocks, "block"))
                     : fmt::format("In {}. {}", counted(report_.peak.blocks, "block"),
                                   recording_.diagnostics.incomplete() ? "No event was read."
                                                                       : "No history was recorded."),
         {.event = overview.peak_event, .filter = "alive@peak"}});
    for (const size_t i : repeats_to_say(report_.repeats)) {
      const analysis::Repeat& one = report_.repeats[i];
      const Who who =
          one.place.function.is_none() ? Who() : analysis::who_of_frame(recording_, one.place.function);
      const int32_t first = one.ranks[0];
      finding.says.push_back(
          {repeat_text(recording_, report_.repeats, i, overview.peak_bytes),
           {.event = overview.peak_event,
            .rank = first,
            .filter = one.place.first_line == one.place.last_line ? filter_text(recording_, who, "alive@peak")
                                                                  : std::nullopt}});
    }
    if (top.groups.size() == 1 && top.groups[0].who.kind == Who::Kind::nothing) return;  // nobody known
    for (const analysis::TopGroup& group : top.groups) {
      PartOfFinding part;
      part.who = group.who.kind == Who::Kind::nothing ? std::string("no stack") : name_of(group.who, top.by);
      part.bytes = group.bytes;
      part.blocks = group.blocks;
      part.proof = {
          .event = overview.peak_event, .rank = group.largest, .filter = filter_of(group.who, top.by)};
      finding.parts.push_back(std::move(part));
    }
    const int64_t rest = top.other_groups();
    if (rest > 0)
      finding.rest =
          fmt::format("{} in {} of {}", size_text(top.other_bytes), counted(top.other_blocks, "block"),
                      counted(rest, top.by == analysis::By::line   ? "other line"
                                    : top.by == analysis::By::file ? "other file"
                                                                   : "other function"));
  }

  // As the peak is cut: a line, a function or a file.
  [[nodiscard]] std::string name_of(const Who& who, analysis::By by) const {
    if (by == analysis::By::line || !who.is_frame()) return who_text(recording_, who);
    std::string_view file = recorded_file(recording_, who);
    file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
    return by == analysis::By::file ? std::string(file) : fmt::format("{} {}", function_text(who), file);
  }
  [[nodiscard]] std::optional<std::string> filter_of(const Who& who, analysis::By by) const {
    if (by == analysis::By::line || !who.is_frame()) return filter_text(recording_, who, "alive@peak");
    const std::string name = by == analysis::By::file ? std::string(recorded_file(recording_, who)) + ":"
                                                      : ":" + function_text(who);
    if (name.size() > 200 || name.find('"') != std::string::npos) return std::nullopt;
    return fmt::format("stack:\"{}\" alive@peak", name);
  }

  void fragmentation(const analysis::Fragmentation& found, bool bad) {
    ReportFinding& finding = add("fragmentation", "Fragmentation", found.lost());
    finding.bad = bad;
    finding.says.push_back(
        {fmt::format(
             "{} of {} reserved is free but in pieces, the largest apart, held back by the live blocks beside them, {}.",
             percent_text(found.lost(), found.reserved), size_text(found.reserved), after_text(found.event)),
         {.event = found.event, .more = "fragmentation"}});
    size_t said = 0;
    for (const analysis::Pin& pin : found.pins) {
      if (!pin.is_mostly_free() || ++said > kMostPinsSaid) break;
      const Who who =
          analysis::who_of(recording_, analysis::stack_of_block(context_, pin.largest_block).stack);
      const int32_t rank =
          replay::rank_of_block(recording_, context_.history, context_.lifetimes, pin.largest_block);
      finding.says.push_back({fmt::format("{} of {} {} {} back in a segment of {}{}, there since {}.",
                                          counted(pin.blocks, "block"), size_text(pin.pinned_bytes),
                                          pin.blocks == 1 ? "holds" : "hold", size_text(pin.held_back_bytes),
                                          size_text(pin.segment_bytes), by_text(recording_, who),
                                          since_text(context_.history.born_of(pin.oldest_block))),
                              {.event = found.event, .rank = rank < 0 ? std::nullopt : std::optional(rank)}});
    }
  }

  void reserved() {
    const analysis::Use& highest = report_.overview.highest_reserved;
    if (highest.reserved.value_or(0) <= 0) return;
    const bool has_history = report_.overview.events > 0;
    ReportFinding& finding = add("reserved", has_history ? "Peak reserved" : "Reserved", *highest.reserved);
    const std::string moment = has_history ? after_text(highest.event) + ": " : std::string();
    if (report_.highest) {
      finding.says.push_back(
          {moment + reserved_use_text(*report_.highest), {.event = highest.event, .more = "fragmentation"}});
    } else {
      finding.says.push_back(
          {fmt::format("{}{} allocated.", moment, size_text(highest.requested)), {.event = highest.event}});
    }
    finding.says.back().text[0] = static_cast<char>(std::toupper(finding.says.back().text[0]));
  }

  void flushes() {
    for (const FlushTexts& one : kFlushTexts) {
      const analysis::CacheFlushes::Runs& runs = report_.cache_flushes.*one.runs;
      if (runs.count == 0) continue;
      ReportFinding& finding = add(std::string(one.kind), std::string(one.title), runs.bytes);
      finding.value = counted(runs.count, "time");
      finding.bytes = runs.bytes;
      finding.says.push_back({flush_text(one, runs), {.event = runs.largest}});
    }
  }

 private:
  // Without steps nobody can say that it leaks; what came and stayed is worth a look.
  void kept() {
    const analysis::Overview& overview = report_.overview;
    if (overview.events == 0) return;
    const int64_t more =
        saturated_difference(context_.lifetimes.final_level, context_.lifetimes.initial_level);
    if (share_of(more, overview.peak_bytes) < kMuchKept || !report_.out_of_memory.explained.empty() ||
        !report_.leaks.leaks.empty())
      return;
    ReportFinding& finding = add("end", "Net growth", more);
    finding.says.push_back({fmt::format("{} is allocated at the end, {} more than at the start.",
                                        size_text(context_.lifetimes.final_level), size_text(more)),
                            {.filter = "freed:never -born:before", .more = "leaks"}});
  }

  void from_before() {
    const auto& before = report_.overview.from_before;
    const int64_t peak = report_.overview.peak_bytes;
    if (!before || share_of(before->bytes_at_peak, peak) < 0.01) return;
    ReportFinding& finding = add("before", "From before the first event", before->bytes_at_start);
    finding.says.push_back(
        {fmt::format("{}{} existed before the first event; {} of it is part of the peak ({}).",
                     size_text(before->bytes_at_start),
                     // A profiler tells their sum only.
                     context_.part.capabilities.profiled ? "" : " in " + counted(before->blocks, "block"),
                     size_text(before->bytes_at_peak), percent_text(before->bytes_at_peak, peak)),
         {.filter = "born:before"}});
    // Of blocks whose stacks the final state tells, who asked for them is known.
    const auto& gaps = report_.overview.missing;
    const bool is_known = std::none_of(gaps.begin(), gaps.end(), [](const analysis::Missing& one) {
      return one.what == analysis::NotRecorded::some_stacks || one.what == analysis::NotRecorded::stacks ||
             one.what == analysis::NotRecorded::frames;
    });
    const bool is_lost = report_.overview.lacks(analysis::NotRecorded::oldest_events);
    if (before->bytes_at_peak * 10 > peak && !is_known && !is_lost) {
      finding.says.push_back({"Start recording before the model is created to see where it came from.", {}});
      says_to_begin_earlier_ = true;
      if (!context_.part.capabilities.profiled) finding.code = "torch.cuda.memory._record_memory_history()";
    }
  }

  void missing() {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"no-history", "History"},
        {"no-stacks", "Stacks of events"},
        {"no-frames", "Frames of stacks"},
        {"no-some-stacks", "Some stacks"},
        {"no-times", "Times"},
        {"no-addresses", "Addresses"},
        {"no-oldest-events", "The oldest events"},
        {"no-end", "The end of the program"},
        {"no-device", "A GPU"}};
    for (const analysis::Missing& one : report_.overview.missing) {
      if (says_to_begin_earlier_ && one.what == analysis::NotRecorded::some_stacks &&
          one.older_bytes >= one.bytes)
        continue;
      MissingText words = missing_text(report_.overview, one, context_.part.capabilities.profiled);
      ReportFinding finding;
      const auto& [kind, name] = kNames[static_cast<size_t>(one.what)];
      finding.kind = kind;
      finding.title = "Not recorded";
      finding.value = name;
      if (one.bytes > 0) finding.bytes = one.bytes;
      finding.says.push_back({std::move(words.text), {}});
      finding.code = std::move(words.python);
      found_.push_back(std::move(finding));
    }
  }

  void about() {
    const replay::BlockLives& lives = context_.lifetimes;
    ReportFinding finding;
    finding.kind = "recording";
    finding.title = "The recording";
    finding.value =
        report_.overview.events == 0 ? std::string("One moment") : counted(report_.overview.events, "event");
    std::string text = report_.overview.events == 0
                           ? std::string()
                           : steps_text(recording_, *report_.steps, report_.leaks) + ".";
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(text[0]));
    if (!text.empty()) finding.says.push_back({std::move(text), {.more = "leaks"}});
    if (model::has_only_processors(recording_)) finding.says.push_back({std::string(kNoGpu), {}});
    const model::EventTable& events = recording_.events;
    if (lives.events.count > 1) {
      const auto first = lives.clock.microseconds(events.time[lives.events.first]);
      const auto last = lives.clock.microseconds(events.time[lives.events.end() - 1]);
      if (first && last && *last > *first)
        finding.says.push_back({fmt::format("It spans {}.", duration_text(*last - *first)), {}});
    }
    const replay::RecordedSettings settings =
        replay::recorded_settings(recording_.strings.view(context_.part.settings_json));
    if (settings.expandable_segments)
      finding.says.push_back(
          {fmt::format("Expandable segments are {}.", *settings.expandable_segments ? "on" : "off"), {}});
    if (!finding.says.empty()) found_.push_back(std::move(finding));
  }

  const analysis::EventContext& context_;
  const model::Recording& recording_;
  const Report& report_;
  std::vector<ReportFinding> found_;
  bool says_to_begin_earlier_ = false;  // of what has no stack
};

void describe(Members& m, const Proof& proof) {
  m.count({"event", "What proves it; null = nothing of the kind, as of the next three."}, proof.event);
  m.rank("rank", proof.rank);
  m.text({"filter", "Means the blocks it is about, or more."}, proof.filter);
  m.word({"more", "The answer that tells more."}, kMore, proof.more);
}

}  // namespace

bool is_worth_saying(const analysis::Fragmentation& fragmentation) {
  return fragmentation.share() >= kMuchHeldBack;
}
bool is_worth_saying(const analysis::ReservedUse& use) {
  return share_of(saturated_sum(use.rounding, use.cached), use.reserved) >= kMuchUnused;
}

std::string reserved_use_text(const analysis::ReservedUse& use) {
  const std::string pending =
      use.pending > 0 ? fmt::format(" ({} of it wait to be freed)", size_text(use.pending)) : std::string();
  return fmt::format("{} requested{}, {} rounding, {} cached ({}).", size_text(use.requested), pending,
                     size_text(use.rounding), size_text(use.cached), percent_text(use.cached, use.reserved));
}

std::vector<std::string> flushes_texts(const analysis::CacheFlushes& flushes) {
  std::vector<std::string> texts;
  for (const FlushTexts& one : kFlushTexts) {
    if ((flushes.*one.runs).count > 0) texts.push_back(flush_text(one, flushes.*one.runs));
  }
  return texts;
}

std::string full_text(const analysis::EventContext& context, const Report& report) {
  const analysis::Steps& steps = *report.steps;
  if (report.out_of_memory.explained.empty() || report.ending.at_failure()) return {};
  const analysis::ExplainedOutOfMemory& failed = report.out_of_memory.explained.back();
  if (!failed.has_state || !failed.device_free || !failed.reserved) return {};
  int64_t per_step = 0;  // of all leaks, each since it began
  int32_t gap = 1;
  for (const analysis::Leak& leak : report.leaks.leaks) {
    if (leak.freed_event >= 0) continue;
    add_saturated(per_step, leak.live_bytes / (steps.count() - leak.first_step));
    gap = std::max(gap, leak.gap);
  }
  int64_t capacity = *failed.reserved;
  add_saturated(capacity, *failed.device_free);
  const int64_t room = capacity - context.lifetimes.level_after(*(steps.begin.end() - 1) - 1);
  if (per_step <= 0 || room <= 0) return {};
  return fmt::format("At this rate the {} available to this process are full after {} at most.",
                     size_text(capacity), counted(room / per_step + gap, "more step"));
}

std::string after_text(int32_t event) {
  return event < 0 ? "before the first event" : fmt::format("after event {}", count_text(event));
}
std::string since_text(int32_t event) {
  return event < 0 ? "before the first event" : fmt::format("event {}", count_text(event));
}

std::vector<ReportFinding> findings_of(const analysis::EventContext& context, const Report& report) {
  return Findings(context, report).all();
}

void describe(Members& m, const ReportFinding& finding) {
  m.is({"ReportFinding", "What of a report matters."});
  m.text("kind", finding.kind);
  m.text("title", finding.title);
  m.text("value", finding.value);
  m.bytes("bytes", finding.bytes);
  m.flag("bad", finding.bad);
  m.list("says", finding.says, [&](const Sentence& one) {
    m.text("text", one.text);
    describe(m, one.proof);
  });
  m.list({"parts", "They and the rest add up to `bytes`."}, finding.parts, [&](const PartOfFinding& part) {
    m.text("who", part.who);
    m.bytes("bytes", part.bytes);
    m.count("blocks", part.blocks);
    m.share({"share", "0 to 1."}, share_of(part.bytes, finding.bytes.value_or(0)));
    describe(m, part.proof);
  });
  m.text("rest", [&] { return or_none(finding.rest); });
  m.text("code", [&] { return or_none(std::string(finding.code)); });
}

}  // namespace gpustrata::answers
