#include "engine/answers/series/series_view.h"

#include "engine/answers/common/parts.h"
#include "engine/answers/series/series_summary.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

void text_or_null(JsonWriter& json, std::string_view name, const model::Recording& recording, StringId text) {
  json.key(name);
  if (text.is_none()) {
    json.null();
  } else {
    json.value(in_list(recording.strings.view(text)));
  }
}

void curves_to_json(JsonWriter& json, const analysis::SeriesPart& part) {
  json.key("curves");
  json.begin_array();
  for (const analysis::SeriesCurve& curve : part.curves) {
    json.begin_object();
    json.member("series", curve.series);
    json.member("name", in_list(curve.name));
    json.member("device", device_or_null(curve.device));
    json.member("points", curve.points);
    json.member("highest", curve.highest);
    json.member("lowest", curve.lowest);
    json.member("chart", curve.chart);
    json.end_object();
  }
  json.end_array();
  json.member("curves_left_out", part.curves_left_out);
}

void marks_to_json(JsonWriter& json, const analysis::SeriesPart& part) {
  json.key("marks");
  json.begin_array();
  for (const analysis::SeriesMark& mark : part.marks) {
    json.begin_object();
    json.member("position", mark.position);
    json.member("device", device_or_null(mark.device));
    json.member("name", in_list(mark.name));
    json.member("note", in_list(mark.note));
    json.end_object();
  }
  json.end_array();
  json.member("marks_left_out", part.marks_left_out);
}

}  // namespace

void to_json(JsonWriter& json, std::span<const analysis::SeriesPart> parts) {
  json.begin_array();
  for (const analysis::SeriesPart& part : parts) {
    json.begin_object();
    json.member("part", part.part);
    json.member("name", in_list(part.name));
    json.member("of", name_of(part.are));
    json.member("has_clock", part.has_clock);
    json.member("extent", part.extent);
    json.member("first_step", part.first_step);
    json.member("first_us", part.first_us);
    json.member("last_us", part.last_us);
    curves_to_json(json, part);
    marks_to_json(json, part);
    json.member("calls", part.calls);
    json.key("timeline");
    if (part.timeline) {
      timeline_to_json(json, *part.timeline);
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array();
}

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::SeriesMoment& moment) {
  json.begin_object();
  json.member("position", moment.position);
  json.member("time_us", moment.time_us);
  text_or_null(json, "label", recording, moment.label);
  text_or_null(json, "note", recording, moment.note);
  json.key("values");
  json.begin_array();
  for (const analysis::SeriesMoment::Value& one : moment.values) json.value(one.value);
  json.end_array();
  json.end_object();
}

void to_json(JsonWriter& json, std::span<const analysis::FunctionCall> calls) {
  json.begin_array();
  for (const analysis::FunctionCall& call : calls) {
    json.begin_object();
    json.member("function", in_list(call.function));
    json.member("device", device_or_null(call.device));
    json.member("position", call.position < 0 ? std::nullopt : std::optional(call.position));
    json.member("before", call.before);
    json.member("peak", call.peak);
    json.member("after", call.after);
    json.member("net", call.net);
    json.member("seconds", call.seconds);
    json.end_object();
  }
  json.end_array();
}

void objects_to_json(JsonWriter& json, std::string_view name, size_t count) {
  json.begin_object();
  json.key(name);
  json.begin_array();
  for (size_t i = 0; i < count; ++i) {
    json.begin_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void nulls_to_json(JsonWriter& json, std::string_view name, size_t count) {
  json.begin_object();
  json.key(name);
  json.begin_array();
  for (size_t i = 0; i < count; ++i) json.null();
  json.end_array();
  json.end_object();
}

}  // namespace gpustrata::answers
