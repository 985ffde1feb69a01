#include "engine/analysis/report/contents.h"

#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

namespace {
constexpr size_t kMostOomEvents = 100;  // of a device

Contents::Device device_in(const model::Recording& recording, const model::Part& part, int32_t device,
                           model::RowRange events) {
  Contents::Device found;
  found.device = device;
  found.events = events.count;
  found.oom = find_oom_events(recording, events, kMostOomEvents);
  if (!found.oom.events.empty() && part.has_clock)
    found.first_oom_us =
        part.clock.microseconds(recording.events.time[events.first + found.oom.events.front()]);
  return found;
}
}  // namespace

Contents find_contents(const model::Recording& recording) {
  Contents contents;
  contents.format = recording.format;
  for (const model::Part& part : recording.parts) {
    Contents::Snapshot& snapshot = contents.snapshots.emplace_back();
    snapshot.name = part.name;
    contents.series += part.series.count > 0 ? 1 : 0;
    contents.fleets += part.kind == model::PartKind::fleet ? 1 : 0;
    contents.is_trace = contents.is_trace || part.kind == model::PartKind::trace;
    for (const int32_t device : part.devices(recording.segments)) {
      Contents::Device& one =
          snapshot.devices.emplace_back(device_in(recording, part, device, part.events_of(device)));
      for (int32_t row = part.segments.first; row < part.segments.end(); ++row)
        one.segments += recording.segments.device[row] == device ? 1 : 0;
    }
    if (part.host_segments.count > 0 || part.host_events.count > 0) {
      Contents::Device& one =
          snapshot.devices.emplace_back(device_in(recording, part, replay::kHostDevice, part.host_events));
      one.segments = part.host_segments.count;
    }
    snapshot.first_shown = replay::default_device(recording, part);
  }
  contents.first_shown = replay::default_device(recording);
  contents.damaged = recording.diagnostics.incomplete();
  contents.findings = findings(recording.diagnostics);
  return contents;
}

}  // namespace gpustrata::analysis
