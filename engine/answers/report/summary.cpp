#include "engine/answers/report/summary.h"

#include <optional>

#include "engine/answers/common/findings.h"
#include "engine/answers/series/series_summary.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

namespace {

constexpr size_t kLongestAction = 200;  // bytes of an unknown action's name that are shown

void device_to_json(JsonWriter& json, const analysis::DeviceSummary& sums) {
  json.begin_object();
  json.member("device", sums.device);
  json.member("events", sums.events);
  json.key("actions");
  json.begin_object();
  for (const auto& [name, count] : sums.actions) json.member(utf8::cut(name, kLongestAction), count);
  json.end_object();
  json.member("segments", sums.segments);
  json.member("blocks", sums.blocks);
  json.member("reserved_bytes", sums.reserved_bytes);
  json.member("allocated_bytes", sums.allocated_bytes);
  json.member("active_bytes", sums.active_bytes);
  json.member("initial_requested_bytes", sums.initial_requested_bytes);
  json.member("final_requested_bytes", sums.final_requested_bytes);
  json.key("peak");
  json.begin_object();
  json.member("requested_bytes", sums.peak_requested_bytes);
  json.member("event", sums.peak_event);
  json.end_object();
  if (sums.oom) {
    json.key("oom");
    json.begin_object();
    json.member("count", sums.oom->count);
    json.member("event", sums.oom->event);
    json.member("requested_bytes", sums.oom->requested_bytes);
    json.member("device_free_bytes", sums.oom->device_free_bytes);
    json.end_object();
  }
  json.member("distinct_stacks", sums.distinct_stacks);
  json.member("first_time_us", sums.first_time_us);
  json.member("last_time_us", sums.last_time_us);
  json.end_object();
}

void snapshot_to_json(JsonWriter& json, const analysis::SnapshotSummary& snapshot) {
  json.begin_object();
  if (!snapshot.name.empty()) json.member("name", snapshot.name);
  json.key("devices");
  json.begin_array();
  for (const analysis::DeviceSummary& device : snapshot.devices) device_to_json(json, device);
  json.end_array();
  json.key("host");
  if (snapshot.has_host) {
    json.begin_object();
    json.member("segments", snapshot.host_segments);
    json.member("events", snapshot.host_events);
    json.end_object();
  } else {
    json.null();
  }
  json.key("settings");
  json.raw(snapshot.settings_json);
  json.member("annotations", snapshot.annotations);
  json.end_object();
}

}  // namespace

void to_json(JsonWriter& json, const analysis::Summary& summary, std::string_view file) {
  json.begin_object();
  json.member("file", file);
  json.member("format", summary.format);
  json.member("bytes", summary.bytes);
  json.key("snapshots");
  json.begin_array();
  for (const analysis::SnapshotSummary& snapshot : summary.snapshots) snapshot_to_json(json, snapshot);
  json.end_array();
  if (!summary.series.empty()) series_to_json(json, summary.series);
  if (summary.fleets > 0) json.member("fleets", summary.fleets);
  json.key("diagnostics");
  to_json(json, summary.diagnostics);
  json.end_object();
}

}  // namespace gpustrata::answers
