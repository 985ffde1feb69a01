#include "engine/analysis/findings/oom_events.h"

namespace gpustrata::analysis {

OomEvents find_oom_events(const model::Recording& recording, model::RowRange events, size_t most) {
  OomEvents found;
  for (int32_t event = 0; event < events.count; ++event) {
    if (recording.events.action[static_cast<size_t>(events.first + event)] != trace::Action::oom) continue;
    ++found.count;
    if (found.events.size() < most) found.events.push_back(event);
  }
  return found;
}

}  // namespace gpustrata::analysis
