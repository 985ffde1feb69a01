#include "engine/answers/steps/marks.h"

#include <string>

#include "engine/answers/text/bounded.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using trace::Action;

namespace {

[[nodiscard]] std::string text_of(const model::Recording& recording, const analysis::Marker& marker) {
  if (marker.action == Action::oom) return "out of memory: " + size_text(marker.size) + " requested";
  if (marker.action == Action::snapshot) return "snapshot taken";
  return in_list(recording.strings.view(marker.text));
}

}  // namespace

void to_json(JsonWriter& json, const model::Recording& recording, const analysis::Marks& marks) {
  json.begin_object();
  json.key("regions");
  json.begin_array();
  for (const analysis::MarkedRegion& region : marks.regions) {
    json.begin_object();
    json.member("name", in_list(recording.strings.view(region.name)));
    json.member("from_event", region.from_event);
    json.member("to_event", region.to_event);
    json.member("from_us", region.from_us);
    json.member("to_us", region.to_us);
    json.member("depth", region.depth);
    json.member("cut_start", region.cut_start);
    json.member("cut_end", region.cut_end);
    json.member("allocated_bytes", region.allocated_bytes);
    json.member("allocations", region.allocations);
    json.end_object();
  }
  json.end_array();
  json.member("regions_left_out", marks.regions_left_out);
  json.key("markers");
  json.begin_array();
  for (const analysis::Marker& marker : marks.markers) {
    json.begin_object();
    json.member("kind", trace::name_of(marker.action));
    json.member("event", marker.event);
    json.member("time_us", marker.time_us);
    json.member("text", text_of(recording, marker));
    json.end_object();
  }
  json.end_array();
  json.member("markers_left_out", marks.markers_left_out);
  json.end_object();
}

}  // namespace gpustrata::answers
