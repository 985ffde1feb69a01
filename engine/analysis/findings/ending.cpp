#include "engine/analysis/findings/ending.h"

#include <algorithm>

namespace gpustrata::analysis {

Ending find_ending(const model::Recording& recording, const model::Part& part) {
  const model::EventTable& events = recording.events;
  Ending found;
  int64_t failed = model::kNoTime, allocated = model::kNoTime;  // the last times
  for (const model::DeviceTrace& trace : part.traces) {
    for (int32_t event = trace.events.count - 1; event >= 0; --event) {
      const auto row = static_cast<size_t>(trace.events.first + event);
      const int64_t time = events.time[row];
      if (events.action[row] == trace::Action::alloc) {
        allocated = std::max(allocated, time);
        break;
      }
      if (events.action[row] != trace::Action::oom) continue;
      if (!found.at_failure() || time > failed) {
        found = {trace.device, event};
        failed = time;
      }
      break;
    }
  }
  const bool went_on = failed != model::kNoTime && allocated > failed;
  if (went_on) found = {};
  found.is_open = part.is_open;
  found.is_cut = recording.diagnostics.incomplete();
  return found;
}

int32_t first_of_unwinding(const model::Recording& recording, const model::Part& part, int32_t device) {
  const Ending ending = find_ending(recording, part);
  const model::RowRange own = part.events_of(device);
  if (!ending.at_failure()) return own.count;
  if (ending.device == device) return ending.event + 1;
  const model::EventTable& events = recording.events;
  const auto row = static_cast<size_t>(part.events_of(ending.device).first + ending.event);
  const int64_t failed = events.time[row];
  if (failed == model::kNoTime) return own.count;
  int32_t first = own.count;
  while (first > 0 && events.time[own.first + first - 1] > failed) --first;
  return first;
}

}  // namespace gpustrata::analysis
