#include "engine/analysis/event_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/analysis/block_sources.h"
#include "engine/analysis/bounded_json.h"
#include "engine/analysis/no_stack_reasons.h"
#include "engine/analysis/pool_id.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"
#include "engine/replay/links.h"

namespace memstrata::analysis {

using trace::Action;

namespace {

[[nodiscard]] size_t row_of(const EventContext& context, int32_t event) {
  return static_cast<size_t>(context.history.rows.events.first + event);
}

[[nodiscard]] std::optional<int64_t> time_of(const EventContext& context, int32_t event) {
  const int64_t time = context.recording.events.time_us[row_of(context, event)];
  return time == model::kNoTime ? std::nullopt : std::optional(time);
}

[[nodiscard]] bool is_of_segment(Action action) {
  return action == Action::segment_alloc || action == Action::segment_free || action == Action::segment_map ||
         action == Action::segment_unmap;
}

// A known text; PyTorch writes "N/A" and "" where there is none.
void write_text(JsonWriter& json, std::string_view name, const model::Recording& recording, StringId id) {
  const std::string_view text = recording.strings.view(id);
  json.key(name);
  if (id.is_none() || text.empty() || text == "N/A") {
    json.null();
  } else {
    json.value(utf8::cut(text, kLongestText));
  }
}

// Returns the row of `forward_frames`, -1 = none.
int32_t write_extras(JsonWriter& json, const EventContext& context, size_t row, int64_t& left_out) {
  const model::Recording& recording = context.recording;
  int32_t forward = -1;
  json.key("extras");
  json.begin_object();
  Room room(json);
  const model::RowRange extras = recording.extras_of(model::Owner::event, static_cast<int32_t>(row));
  for (int32_t i = extras.first; i < extras.end(); ++i) {
    const auto k = static_cast<size_t>(i);
    const std::string_view key = recording.strings.view(recording.extras.key[k]);
    if (key == kForwardFrames) {
      forward = i;
    } else if (room.for_one_more()) {
      json.member(in_list(key), in_list(recording.strings.view(recording.extras.value[k])));
    }
  }
  json.end_object();
  left_out = room.left_out();
  return forward;
}

void write_no_stack_reasons(JsonWriter& json, const EventContext& context, int32_t event) {
  const model::EventTable& events = context.recording.events;
  const StackId stack = events.stack[row_of(context, event)];
  json.key("no_stack_reasons");
  json.begin_array();
  if (stack.is_none() || context.recording.stacks.leaf(stack) < 0) {
    const StacksThere there = stacks_there(context.recording, context.history.rows.events);
    if (!there.any_frames) {
      json.value(there.any ? kNoFrames : kNoStacks);
    } else if (!stack.is_none()) {
      json.value(kEmptyStack);
    } else if (events.action[row_of(context, event)] == Action::snapshot) {
      json.value("Events of this kind never have a stack.");
    } else {
      json.value("This event has no stack, while others of the recording have one.");
    }
  }
  json.end_array();
}

}  // namespace

int64_t write_annotations(JsonWriter& json, const EventContext& context, int32_t block) {
  json.begin_array();
  Room room(json);
  if (block >= 0) {
    const model::EventTable& events = context.recording.events;
    const auto b = static_cast<size_t>(block);
    const int32_t end = std::min(context.history.blocks.end[b], context.history.event_count());
    for (int32_t event = context.history.blocks.begin[b] + 1; event < end; ++event) {
      const size_t row = row_of(context, event);
      if (events.action[row] != Action::annotate) continue;
      if (context.history.row_of_event[static_cast<size_t>(event)] != block) continue;
      if (room.for_one_more()) json.value(in_list(context.recording.strings.view(events.metadata[row])));
    }
  }
  if (room.left_out() > 0) json.value(more_text(room.left_out()));
  json.end_array();
  return room.left_out();
}

std::string event_text(const EventContext& context, int32_t event) {
  const model::EventTable& events = context.recording.events;
  const size_t row = row_of(context, event);
  const int32_t stream = context.streams[events.stream[row]];
  switch (events.action[row]) {
    case Action::snapshot:
      return "snapshot";
    case Action::oom:
      return fmt::format(
          "OOM (requested {}, the device has {} free)\n(stream {})", exact_size_text(events.size[row]),
          exact_size_text(
              static_cast<int64_t>(std::min(events.address[row], static_cast<uint64_t>(INT64_MAX)))),
          stream);
    default:
      return fmt::format(
          "{:<14}{:<18} {}\n(stream {})", utf8::cut(context.recording.action_name(events.action[row]), 100),
          event_name(context.recording, context.history, event), exact_size_text(events.size[row]), stream);
  }
}

std::string event_rows_json(const EventContext& context, const EventList& list, int32_t first,
                            int32_t count) {
  const model::EventTable& events = context.recording.events;
  first = std::clamp(first, 0, list.count());
  count = std::clamp(count, 0, std::min(kMostInList, list.count() - first));
  JsonWriter json;
  json.begin_array();
  for (int32_t i = first; i < first + count; ++i) {
    const int32_t event = list.event(i);
    const size_t row = row_of(context, event);
    const bool follows = event > 0 && events.action[row] == Action::free_completed &&
                         events.action[row - 1] == Action::free_requested &&
                         events.address[row - 1] == events.address[row];
    json.begin_object();
    json.member("row", i);
    json.member("event", event);
    json.member("action", in_list(context.recording.action_name(events.action[row])));
    json.member("name", event_name(context.recording, context.history, event));
    json.member("size", events.size[row]);
    json.member("stream", context.streams[events.stream[row]]);
    json.member("time_us", time_of(context, event));
    json.member("text", event_text(context, event));
    if (follows) json.member("follows_request", true);
    json.end_object();
  }
  json.end_array();
  return std::move(json).text();
}

std::string event_details_json(const EventContext& context, int32_t event) {
  const model::Recording& recording = context.recording;
  const model::EventTable& events = recording.events;
  const size_t row = row_of(context, event);
  const Action action = events.action[row];
  const int32_t target = context.history.row_of_event[static_cast<size_t>(event)];
  const int32_t block = is_of_segment(action) ? -1 : target;
  JsonWriter json;
  json.begin_object();
  json.member("event", event);
  json.member("action", in_list(recording.action_name(action)));
  json.member("name", event_name(recording, context.history, event));
  json.member("address", action == Action::oom ? std::string() : fmt::format("{:#x}", events.address[row]));
  json.member("size", events.size[row]);
  json.member("stream", context.streams[events.stream[row]]);
  json.member("stream_handle", handle_text(recording, events.stream[row]));
  json.key("pool");
  write_pool(json, recording, events.pool[row]);
  json.member("time_us", time_of(context, event));
  json.member("text", event_text(context, event));
  json.key("device_free");
  if (action == Action::oom) {
    json.value(events.address[row]);
  } else {
    json.null();
  }
  write_text(json, "compile_context", recording, events.context[row]);
  write_text(json, "user_metadata", recording, events.metadata[row]);
  json.key("annotations");
  const int64_t annotations_left_out = write_annotations(json, context, block);
  int64_t extras_left_out = 0;
  const int32_t forward = write_extras(json, context, row, extras_left_out);
  json.key("frames");
  const int64_t frames_left_out = write_frames(json, recording, events.stack[row]);
  write_text(json, kForwardFrames, recording,
             forward < 0 ? StringId() : recording.extras.value[static_cast<size_t>(forward)]);
  write_no_stack_reasons(json, context, event);
  json.member("block", block);
  json.member("rank", block < 0 ? -1 : rank_of_block(recording, context.history, context.lifetimes, block));
  json.member("segment", is_of_segment(action) ? target : -1);
  const replay::BlockEvents own =
      block < 0 ? replay::BlockEvents() : events_of_block(recording, context.history, block);
  json.member("alloc_event", own.alloc);
  json.member("free_requested_event", own.free_requested);
  json.member("free_completed_event", own.free_completed);
  json.member("annotations_left_out", annotations_left_out);
  json.member("extras_left_out", extras_left_out);
  json.member("frames_left_out", frames_left_out);
  json.end_object();
  return std::move(json).text();
}

}  // namespace memstrata::analysis
