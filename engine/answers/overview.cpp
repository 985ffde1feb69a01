#include "engine/answers/overview.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "engine/answers/who.h"
#include "engine/base/units.h"

namespace memstrata::answers {

using analysis::NotRecorded;
using analysis::Overview;
using analysis::TopGroup;
using analysis::Use;
using analysis::Who;

namespace {

// What every finding links to.
struct Link {
  std::optional<int64_t> bytes;
  std::optional<int32_t> event, rank;
  std::optional<std::string> filter;
};

void begin(JsonWriter& json, std::string_view kind, const std::string& text, const Link& link) {
  json.begin_object();
  json.member("kind", kind);
  json.member("text", text);
  json.member("bytes", link.bytes);
  json.member("event", link.event);
  json.member("rank", link.rank);
  json.member("filter", link.filter);
}

[[nodiscard]] std::string moment_text(int32_t event) {
  return event < 0 ? "before the first event" : fmt::format("after event {}", count_text(event));
}

[[nodiscard]] std::string words_of(const model::Recording& recording, const Who& who) {
  return who.kind == Who::Kind::nothing ? std::string("no stack recorded") : who_text(recording, who);
}

void out_of_memory_to_json(JsonWriter& json, const model::Recording& recording,
                           const analysis::OutOfMemoryEvent& one) {
  const std::string by =
      one.who.kind == Who::Kind::nothing ? std::string() : " by " + who_text(recording, one.who);
  begin(json, "out_of_memory",
        fmt::format(
            "Out of memory at event {}: {} requested{}; the device had {} free, and {} reserved were unused.",
            count_text(one.event), size_text(one.requested), by, size_text(one.device_free),
            size_text(one.reserved_unused)),
        {one.requested, one.event, {}, {}});
  json.member("device_free", one.device_free);
  json.member("reserved_unused", one.reserved_unused);
  who_to_json(json, recording, one.who);
  json.member("time_us", one.time_us);
  json.end_object();
}

[[nodiscard]] std::string share_text(int64_t bytes, int64_t of) {
  return of <= 0 ? std::string()
                 : fmt::format(" ({:.1f} %)", 100 * static_cast<double>(bytes) / static_cast<double>(of));
}

void peak_to_json(JsonWriter& json, const model::Recording& recording, const Overview& overview) {
  const analysis::Top& lines = overview.peak_lines;
  const bool known = !lines.groups.empty() && lines.groups[0].who.kind != Who::Kind::nothing;
  const std::string most =
      known ? fmt::format(", most of it by {}", words_of(recording, lines.groups[0].who)) : std::string();
  const bool has_most = known && lines.groups[0].bytes > overview.peak_bytes / 2;
  begin(json, "peak",
        overview.events == 0 ? fmt::format("{} in {} when it was saved{}.", size_text(overview.peak_bytes),
                                           counted(lines.count, "block"), has_most ? most : "")
                             : fmt::format("The peak is {}, {}, in {}{}.", size_text(overview.peak_bytes),
                                           moment_text(overview.peak_event), counted(lines.count, "block"),
                                           has_most ? most : ""),
        {overview.peak_bytes, overview.peak_event, {}, "alive@peak"});
  json.member("reserved", overview.at_peak.reserved);
  json.member("time_us", overview.peak_time_us);
  json.key("parts");
  json.begin_array();
  for (const TopGroup& group : lines.groups) {
    json.begin_object();
    who_to_json(json, recording, group.who);
    json.member("text", fmt::format("{}{} in {}: {}", size_text(group.bytes),
                                    share_text(group.bytes, overview.peak_bytes),
                                    counted(group.count, "block"), words_of(recording, group.who)));
    json.member("bytes", group.bytes);
    json.member("blocks", group.count);
    json.member("rank", group.largest_rank);
    json.member("filter", filter_text(recording, group.who, "alive@peak"));
    json.end_object();
  }
  json.end_array();
  const int64_t rest = lines.all_groups - static_cast<int64_t>(lines.groups.size());
  json.key("rest");
  json.begin_object();
  json.member("text", rest == 0
                          ? std::string("nothing else")
                          : fmt::format("{}{} in {} of {}", size_text(lines.other_bytes),
                                        share_text(lines.other_bytes, overview.peak_bytes),
                                        counted(lines.other_count, "block"), counted(rest, "other line")));
  json.member("bytes", lines.other_bytes);
  json.member("blocks", lines.other_count);
  json.member("lines", rest);
  json.end_object();
  json.end_object();
}

void unused_to_json(JsonWriter& json, const Use& use, std::string_view at, const std::string& moment) {
  begin(
      json, "unused",
      fmt::format("{} {} reserved for {} of requests: {} unused{}.", moment, size_text(use.reserved),
                  size_text(use.requested), size_text(use.unused()), share_text(use.unused(), use.reserved)),
      {use.unused(), use.event, {}, {}});
  json.member("reserved", use.reserved);
  json.member("requested", use.requested);
  json.member("at", at);
  json.end_object();
}

void from_before_to_json(JsonWriter& json, const analysis::FromBefore& before, int64_t peak_bytes) {
  begin(json, "from_before",
        fmt::format("{} in {} are from before the recording; {}{} of them are part of the peak.",
                    size_text(before.bytes_at_start), counted(before.blocks, "block"),
                    size_text(before.bytes_at_peak), share_text(before.bytes_at_peak, peak_bytes)),
        {before.bytes_at_start, -1, {}, "born:before"});
  json.member("at_start", before.bytes_at_start);
  json.member("at_peak", before.bytes_at_peak);
  json.member("at_end", before.bytes_at_end);
  json.member("blocks", before.blocks);
  json.end_object();
}

struct MissingWords {
  std::string_view what, text, python;
};
[[nodiscard]] MissingWords words_of(NotRecorded what) {
  constexpr std::string_view kRecord = "torch.cuda.memory._record_memory_history()";
  constexpr std::string_view kAllStacks =
      "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")";
  switch (what) {
    case NotRecorded::history:
      return {"history", "No history was recorded: only the memory when it was saved is known.", kRecord};
    case NotRecorded::stacks:
      return {"stacks", "No event has a stack: who asked for memory is not known.",
              "torch.cuda.memory._record_memory_history(context=\"all\")"};
    case NotRecorded::frames:
      return {"frames", "Stacks were asked for, but none has frames: who asked for memory is not known.",
              kAllStacks};
    case NotRecorded::some_stacks:
      return {"some_stacks",
              "of the peak have no stack: they are older than the recording, or of threads without Python.",
              kAllStacks};
    case NotRecorded::times:
      return {"times", "Events have no times: PyTorch records them since version 2.2.", kRecord};
    case NotRecorded::oldest_events:
      break;
  }
  return {"oldest_events", "The history may lack its beginning: it holds a round number of events.",
          "torch.cuda.memory._record_memory_history(max_entries=1_000_000)"};
}

void missing_to_json(JsonWriter& json, const Overview& overview, const analysis::Missing& missing) {
  const MissingText words = missing_text(overview, missing);
  Link link;
  if (missing.what == NotRecorded::some_stacks) {
    link.bytes = missing.bytes;
    link.event = overview.peak_event;
  } else if (missing.what == NotRecorded::oldest_events) {
    link.event = 0;
  }
  begin(json, "not_recorded", words.text, link);
  json.member("what", words_of(missing.what).what);
  json.member("python", words.python);
  json.end_object();
}

}  // namespace

MissingText missing_text(const Overview& overview, const analysis::Missing& missing) {
  const MissingWords words = words_of(missing.what);
  std::string text(words.text);
  if (missing.what == NotRecorded::some_stacks) {
    text = fmt::format("{}{} {}", size_text(missing.bytes), share_text(missing.bytes, overview.peak_bytes),
                       text);
  } else if (missing.what == NotRecorded::oldest_events) {
    text.insert(text.size() - 1, fmt::format(", {}", count_text(overview.events)));
  }
  return {std::move(text), std::string(words.python)};
}

void to_json(JsonWriter& json, const model::Recording& recording, const Overview& overview) {
  json.begin_object();
  json.member("device", overview.device);
  json.member("events", overview.events);
  json.key("findings");
  json.begin_array();
  for (const analysis::OutOfMemoryEvent& one : overview.out_of_memory)
    out_of_memory_to_json(json, recording, one);
  peak_to_json(json, recording, overview);
  if (overview.events > 0) unused_to_json(json, overview.at_peak, "peak", "At the peak");
  unused_to_json(json, overview.at_end, "end", overview.events > 0 ? "At the end" : "When it was saved");
  if (overview.highest_reserved.reserved > std::max(overview.at_peak.reserved, overview.at_end.reserved))
    unused_to_json(json, overview.highest_reserved, "highest_reserved",
                   fmt::format("Most was reserved {}:", moment_text(overview.highest_reserved.event)));
  if (overview.from_before) from_before_to_json(json, *overview.from_before, overview.peak_bytes);
  for (const analysis::Missing& missing : overview.missing) missing_to_json(json, overview, missing);
  json.end_array();
  json.member("findings_left_out",
              overview.out_of_memory_events - static_cast<int64_t>(overview.out_of_memory.size()));
  json.end_object();
}

}  // namespace memstrata::answers
