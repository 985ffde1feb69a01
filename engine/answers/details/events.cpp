#include "engine/answers/details/events.h"

#include <fmt/core.h>

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

void describe(Members& m, const EventContext& context, const EventRow& row) {
  m.is("EventRow");
  m.count("row", row.row);
  m.count("event", row.event);
  m.text("action", [&] { return in_list(context.recording.action_name(row.action)); });
  m.text({"name", "b'address_version or s'address_version; empty for events of neither."}, row.name);
  m.bytes("size", row.size);
  m.count("stream", row.stream_number);
  m.microseconds("time_us", row.time_us);
  m.text({"text", "As the official viewer says it."}, [&] { return event_text(context, row.event); });
  if (const auto there = m.when(row.follows_request))
    m.flag({"follows_request", "A completion right after its request."}, true);
}

void describe(Members& m, const EventContext& context, const EventDetails& event) {
  const model::Recording& recording = context.recording;
  int64_t extras_left_out = 0;
  m.is("EventDetails");
  m.count("event", event.event);
  m.text("action", [&] { return in_list(recording.action_name(event.action)); });
  m.text("name", event.name);
  m.text({"address", "Empty of a request that failed."},
         [&] { return event.action == Action::oom ? std::string() : fmt::format("{:#x}", event.address); });
  m.bytes("size", event.size);
  m.count("stream", event.stream_number);
  m.text("stream_handle", [&] { return analysis::handle_text(recording, event.stream); });
  describe_pool(m, recording, event.pool);
  m.microseconds("time_us", event.time_us);
  m.text("text", [&] { return event_text(context, event.event); });
  m.bytes("device_free", event.device_free);
  describe_text(m, "compile_context", recording, event.compile_context);
  describe_text(m, "user_metadata", recording, event.user_metadata);
  const int64_t annotations_left_out = describe_annotations(m, recording, event.annotations);
  m.written_by_name({"extras", "What else the file says of it."},
                    [&](JsonWriter& json) { extras_left_out = extras_to_json(json, recording, event); });
  const int64_t frames_left_out = describe_frames(m, recording, event.stack);
  m.text("who", [&] { return who_or_none(recording, event.who); });
  describe_text(m, "forward_frames", recording, event.forward_frames);
  m.values(
      As::text, "no_stack_reasons",
      [&] {
        using Reasons = std::vector<analysis::NoStackReason>;
        return event.no_stack_reason ? Reasons{*event.no_stack_reason} : Reasons();
      },
      [](analysis::NoStackReason reason) { return to_text(reason); });
  m.block_row({"block", "-1 = none, as of the next two."}, event.block);
  m.rank("rank", event.rank);
  m.segment_row("segment", event.segment);
  m.count({"alloc_event", "-1 = not in the trace, as of the next two."}, event.block_events.alloc);
  m.count("free_requested_event", event.block_events.free_requested);
  m.count("free_completed_event", event.block_events.free_completed);
  m.count("annotations_left_out", annotations_left_out);
  m.count("extras_left_out", extras_left_out);
  m.count("frames_left_out", frames_left_out);
}

}  // namespace gpustrata::answers
