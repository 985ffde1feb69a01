#include "engine/session/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/analysis/summary.h"
#include "engine/answers/summary.h"
#include "engine/base/json_writer.h"
#include "engine/replay/default_device.h"
#include "engine/session/session_parts.h"

namespace memstrata::session {

Session::Session(int64_t budget_bytes) : state_(std::make_unique<State>(budget_bytes)) {}
Session::~Session() = default;

void Session::expect_bytes(int64_t total) { state_->reader.expect_bytes(total); }

std::span<std::byte> Session::writable() {
  state_->room = state_->reader.writable();
  return state_->room;
}

Status Session::commit(size_t bytes) {
  state_->bytes_read += static_cast<int64_t>(bytes);
  state_->hash.add(state_->room.first(std::min(bytes, state_->room.size())));
  return state_->reader.commit(bytes);
}

Status Session::finish() { return state_->reader.finish(); }

bool Session::done() const { return state_->reader.done(); }

std::string Session::content_hash() const { return fmt::format("{:016x}", state_->hash.value()); }

std::string Session::progress_json() const {
  JsonWriter json;
  json.begin_object();
  json.member("bytes", state_->bytes_read);
  json.member("events", static_cast<int64_t>(state_->recording.events.size_rows()));
  json.member("heap", state_->budget.used());
  json.end_object();
  return std::move(json).text();
}

Result<std::string> Session::summary_json(std::string_view file) const {
  return answers::summary_json(state_->recording, file);
}

std::string Session::contents_json() const {
  const model::Recording& recording = state_->recording;
  JsonWriter json;
  json.begin_object();
  json.member("format", std::string_view(recording.format));
  json.key("snapshots");
  json.begin_array();
  for (const model::Part& part : recording.parts) {
    json.begin_object();
    json.member("name", std::string_view(part.name));
    json.key("devices");
    json.begin_array();
    for (const int32_t device : part.devices(recording.segments)) {
      int64_t segments = 0;
      for (int32_t row = part.segments.first; row < part.segments.end(); ++row) {
        segments += recording.segments.device[static_cast<size_t>(row)] == device ? 1 : 0;
      }
      const int32_t events = part.events_of(device).count;
      json.begin_object();
      json.member("device", int64_t{device});
      json.member("events", int64_t{events});
      json.member("segments", segments);
      json.end_object();
    }
    if (part.host_segments.count > 0 || part.host_events.count > 0) {
      json.begin_object();
      json.member("device", replay::kHostDevice);
      json.member("events", part.host_events.count);
      json.member("segments", part.host_segments.count);
      json.end_object();
    }
    json.end_array();
    json.member("default", replay::default_device(recording, part));
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
  json.end_object();
  return std::move(json).text();
}

std::string Session::diagnostics_json() const {
  model::Diagnostics diagnostics = state_->recording.diagnostics;
  if (state_->view) analysis::add_device_diagnostics(diagnostics, state_->recording, state_->view->bands());
  if (state_->view && state_->view->state) diagnostics.add_all(state_->view->state->diagnostics());
  JsonWriter json;
  answers::findings_to_json(json, analysis::findings(diagnostics));
  return std::move(json).text();
}

}  // namespace memstrata::session
