#include "engine/replay/state_history.h"

#include <algorithm>
#include <utility>

#include "engine/replay/block_undo.h"
#include "engine/replay/range_undo.h"
#include "engine/replay/recorded_config.h"

namespace memstrata::replay {

using trace::Action;

DeviceRows rows_of(const model::Part& part, int32_t device) {
  if (device == kHostDevice) return {device, part.host_events, part.host_segments};
  return {device, part.events_of(device), part.segments};
}

StateHistory::StateHistory(Budget& budget)
    : blocks(budget),
      requested_size(budget),
      pending_from(budget),
      block_version(budget),
      block_source(budget),
      ranges(budget),
      range_version(budget),
      range_source(budget),
      range_stream(budget),
      range_pool(budget),
      expandable(budget),
      row_of_event(budget) {}

namespace {

[[nodiscard]] bool undo_all(const model::Recording& recording, StateHistory& history) {
  const int32_t count = history.event_count();
  if (!history.row_of_event.resize(static_cast<size_t>(count), -1)) return false;
  RangeUndo ranges(recording, history);
  if (!ranges.prepare()) return false;
  BlockUndo blocks(recording, history, ranges);
  if (!blocks.prepare()) return false;
  for (int32_t event = count - 1; event >= 0; --event) {
    const auto row = static_cast<size_t>(history.rows.events.first + event);
    const Action action = recording.events.action[row];
    const auto bytes = [&] { return bytes_of(recording.events.address[row], recording.events.size[row]); };
    bool done = true;
    switch (action) {
      case Action::alloc:
        done = blocks.undo_alloc(event);
        break;
      case Action::free_requested:
        done = blocks.undo_free_requested(event);
        break;
      case Action::free_completed:
      case Action::free:
        done = blocks.undo_free_completed(event);
        break;
      case Action::segment_alloc:
      case Action::segment_map:
        blocks.close_within(bytes(), event);
        done = ranges.undo_appearance(event, bytes(), action == Action::segment_map);
        break;
      case Action::segment_free:
      case Action::segment_unmap:
        blocks.close_within(bytes(), event);
        done = ranges.undo_disappearance(event, bytes(), action == Action::segment_unmap);
        break;
      case Action::annotate:
        blocks.undo_annotate(event);
        break;
      default:
        break;
    }
    if (!done) return false;
  }
  return ranges.finish() && blocks.finish();
}

}  // namespace

Result<StateHistory> undo_to_start(const model::Recording& recording, const model::Part& part,
                                   int32_t device) {
  StateHistory history(recording.budget);
  history.rows = rows_of(part, device);
  history.config = recorded_config(recording.strings.view(part.settings_json));
  if (!undo_all(recording, history)) {
    const Budget& budget = recording.budget;
    return fail(
        ErrorCode::limit_exceeded, -1,
        "The state history of device {} ({} events) does not fit into memory: at least {} bytes in all "
        "would be needed, the limit is {}.",
        device, history.event_count(), std::max(budget.needed(), budget.used()), budget.limit());
  }
  return history;
}

}  // namespace memstrata::replay
