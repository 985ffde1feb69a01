#include "engine/answers/ops/span_lanes.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

constexpr size_t kLongestOpTerm = 300;  // bytes of a name in a filter

void lane_text(JsonWriter& json, std::string_view key, const model::Recording& recording, StringId text) {
  json.key(key);
  if (text.is_none()) return json.null();
  json.value(in_list(recording.strings.view(text)));
}

[[nodiscard]] std::string_view word_of(model::SpanKind kind) {
  return kind == model::SpanKind::annotation ? "annotation" : "op";
}

// Blocks that events of it allocated in an op of its name. Empty: there are none.
[[nodiscard]] std::string filter_of_span(const model::Recording& recording,
                                         const analysis::SpanDetails& details) {
  if (details.allocs == 0) return {};
  std::string filter = fmt::format("born:{}..{}", details.from_event, details.to_event - 1);
  const StringId name = recording.spans.name[details.span];
  if (name.is_none()) return filter;
  const std::string_view text = recording.strings.view(name);
  // What the language cannot quote: the moments alone.
  if (text.empty() || text.size() > kLongestOpTerm || text.find('"') != std::string_view::npos) return filter;
  return fmt::format("{} op:\"{}\"", filter, text);
}

}  // namespace

void to_json(JsonWriter& json, const model::Recording& recording, const replay::SpanLanes& lanes) {
  json.begin_object();
  json.key("threads");
  json.begin_array();
  for (const replay::SpanLanes::Thread& thread : lanes.threads()) {
    json.begin_object();
    lane_text(json, "process", recording, recording.threads.process[thread.thread]);
    lane_text(json, "id", recording, recording.threads.id[thread.thread]);
    lane_text(json, "name", recording, recording.threads.name[thread.thread]);
    json.member("spans", thread.spans);
    json.member("records", thread.records);
    json.member("rows", thread.rows);
    json.member("deeper", thread.deeper);
    json.end_object();
  }
  json.end_array();
  json.member("threads_left_out", lanes.threads_left_out());
  json.end_object();
}

void lane_names_to_json(JsonWriter& json, const model::Recording& recording,
                        std::span<const StringId> names) {
  json.begin_object();
  json.key("names");
  json.begin_array();
  for (const StringId name : names) json.value(in_list(recording.strings.view(name)));
  json.end_array();
  json.end_object();
}

void next_event_to_json(JsonWriter& json, int32_t event) {
  json.begin_object();
  json.member("next", event);
  json.end_object();
}

void running_ops_to_json(JsonWriter& json, const model::Recording& recording, const replay::SpanLanes& lanes,
                         std::span<const int32_t> running) {
  const model::SpanTable& spans = recording.spans;
  json.begin_array();
  for (const int32_t span : running) {
    const int32_t thread = spans.thread[span];
    json.begin_object();
    lane_text(json, "process", recording, recording.threads.process[thread]);
    lane_text(json, "thread", recording, recording.threads.id[thread]);
    lane_text(json, "thread_name", recording, recording.threads.name[thread]);
    json.member("span", span);
    json.key("lane");
    if (const auto place = lanes.place_of(span)) {
      json.begin_object();
      json.member("thread", place->thread);
      json.member("row", place->row);
      json.end_object();
    } else {
      json.null();
    }
    json.key("ops");
    json.begin_array();
    StringId module;
    size_t names = 0;
    for (int32_t row = span; row >= 0 && names < analysis::kMostAround; row = spans.parent[row]) {
      if (spans.kind[row] != model::SpanKind::op && spans.kind[row] != model::SpanKind::annotation) continue;
      if (module.is_none()) module = spans.module[row];
      if (spans.name[row].is_none()) continue;
      json.value(in_list(recording.strings.view(spans.name[row])));
      ++names;
    }
    json.end_array();
    lane_text(json, "module", recording, module);
    json.end_object();
  }
  json.end_array();
}

void to_json(JsonWriter& json, const ShownSpan& shown) {
  const auto& [recording, part, axis, details] = shown;
  const model::SpanTable& spans = recording.spans;
  const int32_t span = details.span;
  const int32_t thread = spans.thread[span];
  json.begin_object();
  json.member("span", span);
  lane_text(json, "name", recording, spans.name[span]);
  lane_text(json, "category", recording, spans.category[span]);
  json.member("kind", word_of(spans.kind[span]));
  lane_text(json, "process", recording, recording.threads.process[thread]);
  lane_text(json, "thread", recording, recording.threads.id[thread]);
  lane_text(json, "thread_name", recording, recording.threads.name[thread]);
  json.member("start_us", axis.position(replay::Axis::time, spans.start[span]));
  json.member("duration_us",
              static_cast<double>(spans.duration[span]) * static_cast<double>(part.clock.tick_ns) / 1000.0);
  json.member("from_event", details.from_event);
  json.member("to_event", details.to_event);
  json.member("allocs", details.allocs);
  json.member("frees", details.frees);
  json.member("net", details.net);
  json.member("gross", details.gross);
  json.member("peak", details.peak);
  json.key("around");
  json.begin_array();
  for (const int32_t row : details.around) {
    if (!spans.name[row].is_none()) json.value(in_list(recording.strings.view(spans.name[row])));
  }
  json.end_array();
  lane_text(json, "shapes", recording, spans.shapes[span]);
  lane_text(json, "module", recording, spans.module[span]);
  json.member("step", spans.step[span] < 0 ? std::optional<int32_t>() : std::optional(spans.step[span]));
  const std::string filter = filter_of_span(recording, details);
  json.member("filter", filter.empty() ? std::optional<std::string>() : std::optional(filter));
  json.end_object();
}

}  // namespace gpustrata::answers
