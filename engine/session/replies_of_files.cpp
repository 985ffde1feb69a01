#include <optional>

#include "engine/analysis/oom_events.h"
#include "engine/analysis/summary.h"
#include "engine/answers/summary.h"
#include "engine/replay/default_device.h"
#include "engine/session/replies.h"

namespace memstrata::session::reply {

namespace {

// Of a device; the rest is found by `findEvent`.
constexpr size_t kMostOomEvents = 100;

void write_device(JsonWriter& json, const model::Recording& recording, int32_t device, model::RowRange events,
                  int64_t segments) {
  const analysis::OomEvents oom = analysis::find_oom_events(recording, events, kMostOomEvents);
  json.begin_object();
  json.member("device", device);
  json.member("events", events.count);
  json.member("segments", segments);
  json.key("oom");
  json.begin_object();
  json.member("count", oom.count);
  json.key("events");
  json.begin_array();
  for (const int32_t event : oom.events) json.value(event);
  json.end_array();
  json.end_object();
  json.end_object();
}

void write_info(JsonWriter& json, const ViewInfo& info) {
  constexpr std::string_view kBands[] = {"blocks", "pools", "segments"};
  json.begin_object();
  json.member("bands", kBands[static_cast<size_t>(info.bands)]);
  json.member("device", info.device);
  json.member("events", info.events);
  json.member("blocks", info.blocks);
  json.member("from_start", info.from_start);
  if (info.bands == Bands::pools) json.member("pools", info.pools);
  json.key("peak");
  json.begin_object();
  json.member("bytes", info.peak_bytes);
  json.member("event", info.peak_event);
  json.end_object();
  json.member("initial_bytes", info.initial_bytes);
  json.member("final_bytes", info.final_bytes);
  json.member("reserved_peak", info.reserved_peak);
  json.member("reserved_final", info.reserved_final);
  json.key("extent");
  json.begin_object();
  json.member("event", info.extent_events);
  json.member("time_us", info.extent_us);
  json.end_object();
  json.member("first_time_us", info.first_time_us);
  json.member("last_time_us", info.last_time_us);
  json.key("oom_events");
  json.begin_array();
  for (const int32_t event : info.oom_events) json.value(event);
  json.end_array();
  json.member("has_stacks", info.has_stacks);
  json.member("segments", info.segments);
  json.key("settings");
  json.raw(info.settings_json.empty() ? "null" : info.settings_json);
  json.end_object();
}

}  // namespace

Status contents(Asked& asked) {
  const model::Recording& recording = asked.session.recording();
  JsonWriter& json = asked.json;
  json.begin_object();
  json.member("format", std::string_view(recording.format));
  json.member("hash", asked.session.content_hash());
  json.key("snapshots");
  json.begin_array();
  for (const model::Part& snapshot : recording.parts) {
    json.begin_object();
    json.member("name", std::string_view(snapshot.name));
    json.key("devices");
    json.begin_array();
    for (const int32_t device : snapshot.devices(recording.segments)) {
      int64_t segments = 0;
      for (int32_t row = snapshot.segments.first; row < snapshot.segments.end(); ++row)
        segments += recording.segments.device[static_cast<size_t>(row)] == device ? 1 : 0;
      write_device(json, recording, device, snapshot.events_of(device), segments);
    }
    if (snapshot.host_segments.count > 0 || snapshot.host_events.count > 0)
      write_device(json, recording, replay::kHostDevice, snapshot.host_events, snapshot.host_segments.count);
    json.end_array();
    json.member("default", replay::default_device(recording, snapshot));
    json.end_object();
  }
  json.end_array();
  json.key("default");
  if (const auto first = replay::default_device(recording)) {
    json.begin_object();
    json.member("snapshot", first->part);
    json.member("device", first->device);
    json.end_object();
  } else {
    json.null();
  }
  json.key("diagnostics");
  answers::findings_to_json(json, analysis::findings(recording.diagnostics));
  json.end_object();
  return {};
}

Status summary(Asked& asked) {
  const auto text = answers::summary_json(asked.session.recording(), asked.arguments.text("file"));
  if (!text) return tl::unexpected(text.error());
  asked.json.raw(*text);
  return {};
}

Status peaks(Asked& asked) {
  const model::Recording& recording = asked.session.recording();
  JsonWriter& json = asked.json;
  json.begin_array();
  for (size_t i = 0; i < recording.parts.size(); ++i) {
    json.begin_array();
    for (const int32_t device : recording.parts[i].devices(recording.segments)) {
      const auto opened = asked.session.device(static_cast<int32_t>(i), device);
      if (!opened) return tl::unexpected(opened.error());
      json.begin_object();
      json.member("device", device);
      json.member("bytes", (*opened)->lives().peak_level);
      json.end_object();
    }
    json.end_array();
  }
  json.end_array();
  return {};
}

Status open(Asked& asked) {
  const auto id =
      asked.session.open_view(asked.arguments.integer("snapshot"), asked.arguments.integer("device"),
                              asked.arguments.word<Bands>("bands"));
  if (!id) return tl::unexpected(id.error());
  const View& view = *asked.session.view(*id);
  JsonWriter& json = asked.json;
  json.begin_object();
  json.member("id", *id);
  json.key("info");
  write_info(json, view.info());
  json.key("diagnostics");
  answers::findings_to_json(json, analysis::findings(view.diagnostics()));
  json.end_object();
  return {};
}

Status release(Asked& asked) {
  asked.session.release(asked.view_id);
  asked.json.null();
  return {};
}

}  // namespace memstrata::session::reply
