#include "engine/analysis/details/event_list.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/device/block_name.h"
#include "engine/analysis/stacks/frame_filter.h"
#include "engine/base/ascii.h"

namespace gpustrata::analysis {

using trace::Action;

namespace {

[[nodiscard]] bool is_listed(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

// Per node of the stack table: does it, or a caller of it, show the text? Callers have lower numbers.
[[nodiscard]] bool match_nodes(const model::Recording& recording, const std::string& text,
                               Column<uint8_t>& nodes) {
  Column<uint8_t> frames(recording.budget);
  if (!frames.resize(recording.frames.size(), 0) || !nodes.resize(recording.stacks.node_count(), 0))
    return false;
  for (size_t i = 0; i < frames.size(); ++i) {
    const FrameId id{i};
    const trace::Frame& frame = recording.frames[id];
    const bool hidden = is_hidden(recording.strings.view(frame.name), recording.strings.view(frame.filename));
    frames[i] = !hidden && ascii::lower(frame_text(recording, id)).find(text) != std::string::npos ? 1 : 0;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const trace::StackTable::Node& node = recording.stacks.node(static_cast<int32_t>(i));
    const bool in_caller = node.caller >= 0 && nodes[static_cast<size_t>(node.caller)] != 0;
    nodes[i] = in_caller || frames[node.frame.index()] != 0 ? 1 : 0;
  }
  return true;
}

// What is looked for in names: people type 0x<hex>, b<hex>, or the name itself.
[[nodiscard]] std::string wanted_name(std::string_view text) {
  std::string name = ascii::lower(text);
  if (name.starts_with("0x")) return name.substr(2);
  if (name.size() > 2 && (name[0] == 'b' || name[0] == 's') && name.substr(1, 2) == "0x")
    return name.substr(3);
  return name;
}

}  // namespace

bool EventFilter::is_empty() const {
  return actions.empty() && least_size <= 0 && most_size == std::numeric_limits<int64_t>::max() &&
         stream < 0 && address.empty() && frame.empty();
}

void EventList::show_all(int32_t event_count) {
  all_ = true;
  event_count_ = event_count;
  events_.clear();
  events_.shrink_to_fit();
}

Status EventList::show(const model::Recording& recording, const replay::StateHistory& history,
                       const StreamNumbers& streams, const EventFilter& filter) {
  show_all(history.event_count());
  if (filter.is_empty()) return {};
  const auto no_memory = [&] {
    show_all(history.event_count());
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to list {} events", history.event_count());
  };
  const model::EventTable& events = recording.events;
  Column<uint8_t> nodes(recording.budget);
  if (!filter.frame.empty() && !match_nodes(recording, ascii::lower(filter.frame), nodes)) return no_memory();
  const std::string name = wanted_name(filter.address);
  std::vector<int8_t> listed(256, -1);  // per action: -1 = not asked yet
  all_ = false;
  for (int32_t event = 0; event < history.event_count(); ++event) {
    const auto row = static_cast<size_t>(history.rows.events.first + event);
    const Action action = events.action[row];
    if (!filter.actions.empty()) {
      int8_t& known = listed[static_cast<size_t>(action)];
      if (known < 0) known = is_listed(filter.actions, recording.action_name(action)) ? 1 : 0;
      if (known == 0) continue;
    }
    if (events.size[row] < filter.least_size || events.size[row] > filter.most_size) continue;
    if (filter.stream >= 0 && streams[events.stream[row]] != filter.stream) continue;
    if (!filter.frame.empty()) {
      const StackId stack = events.stack[row];
      const int32_t leaf = stack.is_none() ? -1 : recording.stacks.leaf(stack);
      if (leaf < 0 || nodes[static_cast<size_t>(leaf)] == 0) continue;
    }
    if (!name.empty() && event_name(recording, history, event).find(name) == std::string::npos) continue;
    if (!events_.push_back(event)) return no_memory();
  }
  return {};
}

int32_t EventList::row_of(int32_t event) const {
  if (all_) return std::clamp(event, 0, event_count_);
  return static_cast<int32_t>(std::lower_bound(events_.begin(), events_.end(), event) - events_.begin());
}

std::string event_name(const model::Recording& recording, const replay::StateHistory& history,
                       int32_t event) {
  const auto row = static_cast<size_t>(history.rows.events.first + event);
  const int32_t target = history.row_of_event[static_cast<size_t>(event)];
  const uint64_t address = recording.events.address[row];
  switch (recording.events.action[row]) {
    case Action::alloc:
    case Action::free_requested:
    case Action::free_completed:
    case Action::free:
    case Action::annotate:
      return block_name(address, target < 0 ? 0 : history.block_version[static_cast<size_t>(target)]);
    case Action::segment_alloc:
    case Action::segment_free:
    case Action::segment_map:
    case Action::segment_unmap:
      return segment_name(address, target < 0 ? 0 : history.range_version[static_cast<size_t>(target)]);
    default:
      return {};
  }
}

int32_t find_event(const model::Recording& recording, const replay::StateHistory& history, Action action,
                   int32_t from, bool backwards) {
  const int32_t step = backwards ? -1 : 1;
  const int32_t count = history.event_count();
  const int32_t start = backwards ? std::min(from, count) - 1 : std::max(from, -1) + 1;
  for (int32_t event = start; event >= 0 && event < count; event += step) {
    if (recording.events.action[static_cast<size_t>(history.rows.events.first + event)] == action)
      return event;
  }
  return -1;
}

}  // namespace gpustrata::analysis
