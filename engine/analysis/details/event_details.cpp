#include "engine/analysis/details/event_details.h"

#include <algorithm>

namespace gpustrata::analysis {

using trace::Action;

namespace {

void find_extras(const EventContext& context, EventDetails& told) {
  const model::Recording& recording = context.recording;
  const model::RowRange extras =
      recording.extras_of(model::Owner::event, static_cast<int32_t>(context.row(told.event)));
  for (int32_t i = extras.first; i < extras.end(); ++i) {
    const StringId key = recording.extras.key[i], value = recording.extras.value[i];
    if (recording.strings.view(key) == kForwardFrames) {
      told.forward_frames = if_it_says_something(recording, value);
    } else if (told.extras.size() < kMostInList) {
      told.extras.push_back({Extra::Of::itself, key, value});
    } else {
      ++told.extras_left_out;
    }
  }
}

[[nodiscard]] std::optional<NoStackReason> no_stack_reason(const EventContext& context, int32_t event) {
  const StackId stack = context.recording.events.stack[context.row(event)];
  if (!stack.is_none() && context.recording.stacks.leaf(stack) >= 0) return std::nullopt;
  const StacksThere& there = context.index.stacks;
  if (!there.any_frames)
    return there.any ? NoStackReason::no_frames_anywhere : NoStackReason::no_stacks_anywhere;
  if (!stack.is_none()) return NoStackReason::empty_stack;
  return context.recording.events.action[context.row(event)] == Action::snapshot
             ? NoStackReason::never_for_this_event
             : NoStackReason::other_events_have_one;
}

}  // namespace

Annotations annotations_of(const EventContext& context, int32_t block) {
  if (block < 0) return {};
  const replay::SpanHistory& blocks = context.history.blocks;
  const int32_t end = std::min(blocks.end[block], context.history.event_count());
  return annotations_of(context.recording, context.history.rows.events, context.index, blocks.address[block],
                        blocks.begin[block], end,
                        [&](int32_t event) { return context.history.row_of_event[event] == block; });
}

std::vector<EventRow> event_rows(const EventContext& context, const EventList& list, int32_t first,
                                 int32_t count) {
  const model::EventTable& events = context.recording.events;
  first = std::clamp(first, 0, list.count());
  count = std::clamp(count, 0, std::min(kMostInList, list.count() - first));
  std::vector<EventRow> rows;
  rows.reserve(static_cast<size_t>(count));
  for (int32_t i = first; i < first + count; ++i) {
    const int32_t event = list.event(i);
    const size_t row = context.row(event);
    EventRow one;
    one.row = i;
    one.event = event;
    one.action = events.action[row];
    one.name = event_name(context.recording, context.history, event);
    one.size = events.size[row];
    one.stream_number = context.stream_number(events.stream[row]);
    one.time_us = context.time_us(event);
    one.follows_request = event > 0 && one.action == Action::free_completed &&
                          events.action[row - 1] == Action::free_requested &&
                          events.address[row - 1] == events.address[row];
    rows.push_back(std::move(one));
  }
  return rows;
}

EventDetails event_details(const EventContext& context, int32_t event) {
  const model::Recording& recording = context.recording;
  const model::EventTable& events = recording.events;
  const size_t row = context.row(event);
  const int32_t target = context.history.row_of_event[event];
  EventDetails told;
  told.event = event;
  told.action = events.action[row];
  told.name = event_name(recording, context.history, event);
  told.address = events.address[row];
  told.size = events.size[row];
  told.stream = events.stream[row];
  told.stream_number = context.stream_number(told.stream);
  told.pool = events.pool[row];
  told.time_us = context.time_us(event);
  if (told.action == Action::oom) told.device_free = model::device_free(events, row);
  told.compile_context = if_it_says_something(recording, events.context[row]);
  told.user_metadata = if_it_says_something(recording, events.metadata[row]);
  if (trace::is_of_segment(told.action)) {
    told.segment = target;
  } else {
    told.block = target;
  }
  told.annotations = annotations_of(context, told.block);
  find_extras(context, told);
  told.stack = events.stack[row];
  told.who = who_of(recording, told.stack);
  told.no_stack_reason = no_stack_reason(context, event);
  if (told.block >= 0) {
    told.rank = rank_of_block(recording, context.history, context.lifetimes, told.block);
    told.block_events = events_of_block(recording, context.history, told.block);
  }
  return told;
}

}  // namespace gpustrata::analysis
