#include "engine/answers/report/contents.h"

#include "engine/answers/common/findings.h"

namespace gpustrata::answers {

using analysis::Contents;

void to_json(JsonWriter& json, const Contents& contents, std::string_view hash) {
  json.begin_object();
  json.member("format", contents.format);
  json.member("hash", hash);
  json.key("snapshots");
  json.begin_array();
  for (const Contents::Snapshot& snapshot : contents.snapshots) {
    json.begin_object();
    json.member("name", snapshot.name);
    json.key("devices");
    json.begin_array();
    for (const Contents::Device& one : snapshot.devices) {
      json.begin_object();
      json.member("device", one.device);
      json.member("events", one.events);
      json.member("segments", one.segments);
      json.key("oom");
      json.begin_object();
      json.member("count", one.oom.count);
      json.key("events");
      json.begin_array();
      for (const int32_t event : one.oom.events) json.value(event);
      json.end_array();
      json.end_object();
      json.end_object();
    }
    json.end_array();
    json.member("default", snapshot.first_shown);
    json.end_object();
  }
  json.end_array();
  json.key("default");
  if (contents.first_shown) {
    json.begin_object();
    json.member("snapshot", contents.first_shown->part);
    json.member("device", contents.first_shown->device);
    json.end_object();
  } else {
    json.null();
  }
  json.member("series", contents.series);
  json.member("fleets", contents.fleets);
  json.member("is_trace", contents.is_trace);
  json.key("diagnostics");
  to_json(json, contents.findings);
  json.end_object();
}

void to_json(JsonWriter& json, std::span<const std::vector<analysis::DevicePeak>> peaks) {
  json.begin_array();
  for (const std::vector<analysis::DevicePeak>& snapshot : peaks) {
    json.begin_array();
    for (const analysis::DevicePeak& one : snapshot) {
      json.begin_object();
      json.member("device", one.device);
      json.member("bytes", one.bytes);
      json.end_object();
    }
    json.end_array();
  }
  json.end_array();
}

}  // namespace gpustrata::answers
