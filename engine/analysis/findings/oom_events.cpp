#include "engine/analysis/findings/oom_events.h"

#include <algorithm>

#include "engine/base/saturating.h"

namespace gpustrata::analysis {

OomEvents find_oom_events(const model::Recording& recording, model::RowRange events, size_t most) {
  OomEvents found;
  for (int32_t event = 0; event < events.count; ++event) {
    if (recording.events.action[events.first + event] != trace::Action::oom) continue;
    ++found.count;
    if (found.events.size() < most) found.events.push_back(event);
  }
  return found;
}

std::optional<int64_t> capacity_at_last_oom(const model::Recording& recording, const replay::Bands& lives) {
  if (!lives.has_reserved) return std::nullopt;
  for (int32_t event = lives.events.count - 1; event >= 0; --event) {
    const auto row = static_cast<size_t>(lives.events.first + event);
    if (recording.events.action[row] != trace::Action::oom) continue;
    const auto free = model::device_free(recording.events, row);
    if (!free || *free < 0 || *free >= recording.events.size[row]) return std::nullopt;
    return saturated_sum(std::max<int64_t>(lives.reserved.at(event), 0), *free);
  }
  return std::nullopt;
}

}  // namespace gpustrata::analysis
