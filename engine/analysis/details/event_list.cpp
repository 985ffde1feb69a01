#include "engine/analysis/details/event_list.h"

#include <algorithm>

#include "engine/analysis/device/block_name.h"

namespace gpustrata::analysis {

int32_t EventList::row_of(int32_t event) const {
  if (all_) return std::clamp(event, 0, event_count_);
  return static_cast<int32_t>(std::lower_bound(events_.begin(), events_.end(), event) - events_.begin());
}

std::string event_name(const model::Recording& recording, const replay::StateHistory& history,
                       int32_t event) {
  const auto row = static_cast<size_t>(history.rows.events.first + event);
  const int32_t target = history.row_of_event[event];
  const uint64_t address = recording.events.address[row];
  const trace::Action action = recording.events.action[row];
  if (trace::is_of_block(action)) return block_name(address, target < 0 ? 0 : history.block_version[target]);
  if (trace::is_of_segment(action))
    return segment_name(address, target < 0 ? 0 : history.range_version[target]);
  return {};
}

int32_t find_event(const model::Recording& recording, const replay::StateHistory& history,
                   trace::Action action, int32_t from, bool backwards) {
  const int32_t step = backwards ? -1 : 1;
  const int32_t count = history.event_count();
  const int32_t start = backwards ? std::min(from, count) - 1 : std::max(from, -1) + 1;
  for (int32_t event = start; event >= 0 && event < count; event += step) {
    if (recording.events.action[history.rows.events.first + event] == action) return event;
  }
  return -1;
}

}  // namespace gpustrata::analysis
