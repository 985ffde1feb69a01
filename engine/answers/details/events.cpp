#include "engine/answers/details/events.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/device/stream_numbers.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/stacks/no_stack_reasons.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::EventContext;
using analysis::EventDetails;
using analysis::EventRow;
using trace::Action;

namespace {

[[nodiscard]] int64_t extras_to_json(JsonWriter& json, const model::Recording& recording,
                                     const EventDetails& event) {
  json.begin_object();
  Room room(json);
  for (const analysis::Extra& extra : event.extras) {
    if (room.for_one_more())
      json.member(in_list(recording.strings.view(extra.key)), in_list(recording.strings.view(extra.value)));
  }
  room.leave_out(event.extras_left_out);
  json.end_object();
  return room.left_out();
}

}  // namespace

std::string event_text(const EventContext& context, int32_t event) {
  const model::EventTable& events = context.recording.events;
  const size_t row = context.row(event);
  const int32_t stream = context.stream_number(events.stream[row]);
  switch (events.action[row]) {
    case Action::snapshot:
      return "snapshot";
    case Action::oom:
      if (const auto free = model::device_free(events, row))
        return fmt::format("OOM (requested {}, the device has {} free)\n(stream {})",
                           exact_size_text(events.size[row]), exact_size_text(*free), stream);
      return fmt::format("OOM (requested {})\n(stream {})", exact_size_text(events.size[row]), stream);
    default:
      return fmt::format("{:<14}{:<18} {}\n(stream {})",
                         utf8::cut(context.recording.action_name(events.action[row]), 100),
                         analysis::event_name(context.recording, context.history, event),
                         exact_size_text(events.size[row]), stream);
  }
}

void rows_to_json(JsonWriter& json, const EventContext& context, std::span<const EventRow> rows) {
  for (const EventRow& row : rows) {
    json.begin_object();
    json.member("row", row.row);
    json.member("event", row.event);
    json.member("action", in_list(context.recording.action_name(row.action)));
    json.member("name", row.name);
    json.member("size", row.size);
    json.member("stream", row.stream_number);
    json.member("time_us", row.time_us);
    json.member("text", event_text(context, row.event));
    if (row.follows_request) json.member("follows_request", true);
    json.end_object();
  }
}

void to_json(JsonWriter& json, const EventContext& context, std::span<const EventRow> rows) {
  json.begin_array();
  rows_to_json(json, context, rows);
  json.end_array();
}

void to_json(JsonWriter& json, const EventContext& context, const std::optional<EventDetails>& details) {
  if (!details) return json.null();
  const EventDetails& event = *details;
  const model::Recording& recording = context.recording;
  json.begin_object();
  json.member("event", event.event);
  json.member("action", in_list(recording.action_name(event.action)));
  json.member("name", event.name);
  json.member("address",
              event.action == trace::Action::oom ? std::string() : fmt::format("{:#x}", event.address));
  json.member("size", event.size);
  json.member("stream", event.stream_number);
  json.member("stream_handle", analysis::handle_text(recording, event.stream));
  json.key("pool");
  pool_to_json(json, recording, event.pool);
  json.member("time_us", event.time_us);
  json.member("text", event_text(context, event.event));
  json.member("device_free", event.device_free);
  text_to_json(json, "compile_context", recording, event.compile_context);
  text_to_json(json, "user_metadata", recording, event.user_metadata);
  json.key("annotations");
  const int64_t annotations_left_out = annotations_to_json(json, recording, event.annotations);
  json.key("extras");
  const int64_t extras_left_out = extras_to_json(json, recording, event);
  json.key("frames");
  const int64_t frames_left_out = frames_to_json(json, recording, event.stack);
  who_to_json(json, recording, event.who);
  text_to_json(json, analysis::kForwardFrames, recording, event.forward_frames);
  json.key("no_stack_reasons");
  json.begin_array();
  if (event.no_stack_reason) json.value(to_text(*event.no_stack_reason));
  json.end_array();
  json.member("block", event.block);
  json.member("rank", event.rank);
  json.member("segment", event.segment);
  json.member("alloc_event", event.block_events.alloc);
  json.member("free_requested_event", event.block_events.free_requested);
  json.member("free_completed_event", event.block_events.free_completed);
  json.member("annotations_left_out", annotations_left_out);
  json.member("extras_left_out", extras_left_out);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
}

}  // namespace gpustrata::answers
