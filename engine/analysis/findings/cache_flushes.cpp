#include "engine/analysis/findings/cache_flushes.h"

#include <algorithm>

#include "engine/base/saturating.h"
#include "engine/simulate/segment_actions.h"

namespace gpustrata::analysis {

CacheFlushes find_cache_flushes(const model::Recording& recording, const replay::DeviceRows& rows) {
  const model::EventTable& events = recording.events;
  CacheFlushes found;
  int64_t largest_retry = -1, largest_flush = -1;
  for (int32_t event = 0; event < rows.events.count;) {
    const auto action = [&](int32_t at) { return events.action[rows.events.first + at]; };
    if (!simulate::gives_memory_back(action(event))) {
      ++event;
      continue;
    }
    const int32_t first = event;
    int64_t bytes = 0;
    for (; event < rows.events.count && simulate::gives_memory_back(action(event)); ++event)
      add_saturated(bytes, std::max<int64_t>(events.size[rows.events.first + event], 0));
    const bool needed = event < rows.events.count &&
                        (simulate::takes_memory(action(event)) || action(event) == trace::Action::oom);
    int64_t& largest = needed ? largest_retry : largest_flush;
    if ((needed ? found.retries : found.flushes)++ == 0)
      (needed ? found.first_retry : found.first_flush) = first;
    add_saturated(needed ? found.retry_bytes : found.flush_bytes, bytes);
    if (bytes > largest) {
      largest = bytes;
      (needed ? found.largest_retry : found.largest_flush) = first;
    }
  }
  return found;
}

}  // namespace gpustrata::analysis
