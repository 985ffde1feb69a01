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
  return went_on ? Ending() : found;
}

}  // namespace gpustrata::analysis
