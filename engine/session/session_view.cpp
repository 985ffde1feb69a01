#include "engine/session/session_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/analysis/marks.h"
#include "engine/answers/json_of.h"
#include "engine/answers/marks.h"
#include "engine/base/json_writer.h"

namespace memstrata::session {

using replay::Axis;

namespace {
constexpr size_t kMaxOomEvents = 1000;
}  // namespace

Result<std::string> Session::open_view(int32_t part, int32_t device) {
  return open_bands(part, device, Bands::blocks);
}

Result<std::string> Session::open_segments(int32_t part, int32_t device) {
  return open_bands(part, device, Bands::segments);
}

Result<std::string> Session::open_pools(int32_t part, int32_t device) {
  return open_bands(part, device, Bands::pools);
}

Result<std::string> Session::open_bands(int32_t part_index, int32_t device, Bands bands) {
  State& s = *state_;
  s.drawn.forget();
  s.view.reset();
  if (part_index < 0 || static_cast<size_t>(part_index) >= s.recording.parts.size()) {
    return fail(ErrorCode::internal, -1, "there is no snapshot {}", part_index);
  }
  const model::Part& part = s.recording.parts[static_cast<size_t>(part_index)];
  auto view = State::View::of(s.recording, part, device, bands);
  if (!view) return tl::unexpected(view.error());
  s.view = std::move(*view);
  return s.view_json();
}

Result<std::unique_ptr<Session::State::View>> Session::State::View::of(const model::Recording& recording,
                                                                       const model::Part& part,
                                                                       int32_t device, Bands bands) {
  auto opened = replay::Device::open(recording, part, device);
  if (!opened) return tl::unexpected(opened.error());
  auto view = std::make_unique<View>(std::move(*opened));
  if (bands == Bands::segments) {
    const auto history = view->device->history();
    if (!history) return tl::unexpected(history.error());
    auto found = replay::segment_bands(recording, **history);
    if (!found) return tl::unexpected(found.error());
    view->segments.emplace(std::move(*found));
  }
  if (bands == Bands::pools) {
    auto known = analysis::block_attributes(recording, view->device->part, view->lives());
    if (!known) return tl::unexpected(known.error());
    view->attributes.emplace(std::move(*known));
    auto found = replay::pool_bands(recording, view->device->part, view->lives(),
                                    view->attributes->pool.span(), view->attributes->stream.span());
    if (!found) return tl::unexpected(found.error());
    view->pools.emplace(std::move(*found));
  }
  auto timeline = replay::Timeline::build(recording, view->bands());
  if (!timeline) return tl::unexpected(timeline.error());
  view->timeline.emplace(std::move(*timeline));
  return view;
}

std::string Session::State::view_json() const {
  const replay::Bands& lives = view->bands();
  const model::EventTable& events = recording.events;
  bool has_stacks = false;
  std::vector<int32_t> ooms;
  for (int32_t event = 0; event < lives.events.count; ++event) {
    const auto row = static_cast<size_t>(lives.events.first + event);
    has_stacks =
        has_stacks || (!events.stack[row].is_none() && recording.stacks.leaf(events.stack[row]) >= 0);
    if (events.action[row] == trace::Action::oom && ooms.size() < kMaxOomEvents) ooms.push_back(event);
  }
  int64_t segments = 0;
  for (int32_t row = view->device->part.segments.first; row < view->device->part.segments.end();
       ++row) {
    segments += recording.segments.device[static_cast<size_t>(row)] == lives.device ? 1 : 0;
  }
  int64_t reserved_peak = lives.reserved.initial;
  for (const int64_t value : lives.reserved.value) reserved_peak = std::max(reserved_peak, value);

  JsonWriter json;
  json.begin_object();
  json.member("device", int64_t{lives.device});
  json.member("events", int64_t{lives.events.count});
  json.member("blocks", int64_t{view->ranked().count()});
  json.member("from_start", int64_t{view->from_start()});
  if (view->pools) json.member("pools", static_cast<int64_t>(view->pools->envelopes.size()));
  json.key("peak");
  json.begin_object();
  json.member("bytes", lives.peak_level);
  json.member("event", int64_t{lives.peak_event});
  json.end_object();
  json.member("initial_bytes", lives.initial_level);
  json.member("final_bytes", lives.final_level);
  json.member("reserved_peak", reserved_peak);
  json.member("reserved_final", lives.reserved.at(lives.events.count - 1));
  json.key("extent");
  json.begin_object();
  json.member("event", view->timeline->extent(Axis::event));
  const int64_t time_extent = view->timeline->extent(Axis::time);
  json.member("time_us", time_extent > 0 ? std::optional(time_extent) : std::nullopt);
  json.end_object();
  std::optional<int64_t> first_time;
  std::optional<int64_t> last_time;
  for (int32_t event = 0; event < lives.events.count && !first_time; ++event) first_time = time_of(event);
  for (int32_t event = lives.events.count - 1; event >= 0 && !last_time; --event) last_time = time_of(event);
  json.member("first_time_us", first_time);
  json.member("last_time_us", last_time);
  json.key("oom_events");
  json.begin_array();
  for (const int32_t event : ooms) json.value(int64_t{event});
  json.end_array();
  json.member("has_stacks", has_stacks);
  json.member("segments", segments);
  json.key("settings");
  if (view->device->part.settings_json.is_none()) {
    json.null();
  } else {
    json.raw(recording.strings.view(view->device->part.settings_json));
  }
  json.end_object();
  return std::move(json).text();
}

Result<StateView*> Session::open_state() {
  if (!state_->view) return nullptr;
  if (const Status ready = state_->open_state(); !ready) return tl::unexpected(ready.error());
  return state_->view->state.get();
}

// -- Computed when first asked for.

Status Session::State::open_state() {
  if (view->state) return {};
  auto opened = StateView::open(*view->device);
  if (!opened) return tl::unexpected(opened.error());
  view->state = std::move(*opened);
  return {};
}

Status Session::State::find_index() {
  if (view->index) return {};
  auto found = analysis::index_device(recording, view->device->part, view->lives());
  if (!found) return tl::unexpected(found.error());
  view->index.emplace(std::move(*found));
  return {};
}

Status Session::State::find_attributes() {
  if (view->attributes) return {};
  if (view->segments) {
    const auto history = view->device->history();
    if (!history) return tl::unexpected(history.error());
    auto found = analysis::segment_attributes(recording, view->device->part, **history,
                                              view->segments->range_of_rank.span());
    if (!found) return tl::unexpected(found.error());
    view->attributes.emplace(std::move(*found));
    return {};
  }
  auto found = analysis::block_attributes(recording, view->device->part, view->lives());
  if (!found) return tl::unexpected(found.error());
  view->attributes.emplace(std::move(*found));
  return {};
}

std::optional<int64_t> Session::State::time_of(int32_t event) const {
  if (event < 0 || event >= view->device->rows.events.count) return std::nullopt;
  const int64_t time = recording.events.time[static_cast<size_t>(view->device->rows.events.first + event)];
  if (time == model::kNoTime) return std::nullopt;
  return time;
}

Result<std::string> Session::marks_json() const {
  const State& s = *state_;
  if (!s.view) return std::string("null");
  const auto marks = analysis::find_marks(s.recording, s.view->device->part, s.view->device->rows);
  if (!marks) return tl::unexpected(marks.error());
  return answers::json_of(s.recording, *marks);
}

}  // namespace memstrata::session
