#include "engine/simulate/recorded_addresses.h"

#include <algorithm>

#include "engine/simulate/segment_actions.h"

namespace gpustrata::simulate {

using trace::Action;

void RecordedAddresses::begin_request(int32_t event) {
  // A segment that the request before did not ask for.
  for (; at_ < window_end_; ++at_) {
    const bool is_missed = events_.action[at_] == Action::segment_alloc;
    is_over_ = is_over_ || (is_missed && difference_ == Difference::ends_it);
  }
  window_end_ = std::max(window_end_, event);
}

uint64_t RecordedAddresses::next(int64_t bytes, bool reservation) {
  if (is_over_) return 0;
  for (int32_t event = at_; event < window_end_; ++event) {
    const Action action = events_.action[event];
    if (!takes_memory(action)) continue;
    if (reservation != (action == Action::segment_map)) break;
    // A reservation begins where its first pages are; those are asked for next.
    if (reservation) return events_.address[event];
    if (events_.size[event] != bytes) break;
    at_ = event + 1;
    return events_.address[event];
  }
  is_over_ = difference_ == Difference::ends_it;
  return 0;
}

}  // namespace gpustrata::simulate
