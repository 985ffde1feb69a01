#include "engine/model/part.h"

#include <algorithm>

namespace gpustrata::model {

// The memory is bounded by the runs of equal devices.
std::vector<int32_t> Part::devices(const SegmentTable& table) const {
  if (most_devices == 0) return {};
  std::vector<int32_t> found;
  for (int32_t row = segments.first; row < segments.end(); ++row) {
    const int32_t device = table.device[row];
    if (found.empty() || found.back() != device) found.push_back(device);
  }
  for (const DeviceTrace& trace : traces) {
    if (trace.events.count > 0) found.push_back(trace.device);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > most_devices) found.resize(most_devices);
  return found;
}

const DeviceTrace* Part::trace_of(int32_t device) const {
  const auto trace = std::lower_bound(traces.begin(), traces.end(), device,
                                      [](const DeviceTrace& a, int32_t b) { return a.device < b; });
  return trace != traces.end() && trace->device == device ? &*trace : nullptr;
}

RowRange Part::events_of(int32_t device) const {
  const DeviceTrace* trace = trace_of(device);
  return trace == nullptr ? RowRange{} : trace->events;
}

}  // namespace gpustrata::model
