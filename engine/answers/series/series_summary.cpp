#include "engine/answers/series/series_summary.h"

#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

namespace {

void moment_to_json(JsonWriter& json, const analysis::CategoryTimeline& timeline,
                    const analysis::CategoryMoment& moment) {
  json.begin_object();
  json.member("bytes", moment.bytes);
  json.member("time_us", moment.time_us);
  json.key("categories");
  json.begin_object();
  for (size_t i = 0; i < timeline.categories.size(); ++i)
    json.member(timeline.categories[i], moment.levels[i]);
  json.end_object();
  json.end_object();
}

void part_to_json(JsonWriter& json, const analysis::SeriesSummary& part) {
  json.begin_object();
  if (!part.name.empty()) json.member("name", part.name);
  json.member("of", name_of(part.are));
  json.key("series");
  json.begin_array();
  for (const analysis::SeriesRow& row : part.rows) {
    json.begin_object();
    json.member("name", in_list(row.name));
    json.member("device", row.device == model::kUnknownDevice ? std::nullopt : std::optional(row.device));
    json.member("unit", row.unit == model::Unit::bytes ? "bytes" : "ns");
    json.member("points", row.points);
    json.member("highest", row.highest);
    json.end_object();
  }
  json.end_array();
  if (part.more > 0) json.member("series_left_out", part.more);
  json.end_object();
}

}  // namespace

void timeline_to_json(JsonWriter& json, const analysis::CategoryTimeline& timeline) {
  json.begin_object();
  json.member("points", timeline.points);
  json.member("first_us", timeline.first_us);
  json.member("last_us", timeline.last_us);
  json.key("peak");
  if (timeline.peak) {
    moment_to_json(json, timeline, *timeline.peak);
  } else {
    json.null();
  }
  json.key("course");
  json.begin_array();
  for (const analysis::CategoryMoment& moment : timeline.course) moment_to_json(json, timeline, moment);
  json.end_array();
  json.end_object();
}

std::string_view name_of(model::SeriesAre are) {
  switch (are) {
    case model::SeriesAre::counters:
      return "counters";
    case model::SeriesAre::categories:
      return "categories";
    case model::SeriesAre::operators:
      return "operators";
  }
  return "counters";
}

void series_to_json(JsonWriter& json, std::span<const analysis::SeriesSummary> all) {
  json.key("series");
  json.begin_array();
  for (const analysis::SeriesSummary& part : all) part_to_json(json, part);
  json.end_array();
  for (const analysis::SeriesSummary& part : all) {
    if (!part.timeline) continue;
    json.key("timeline");
    timeline_to_json(json, *part.timeline);
    return;
  }
}

}  // namespace gpustrata::answers
