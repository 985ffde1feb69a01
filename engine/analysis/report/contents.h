// What can be opened in a file: its snapshots and their devices, and which of them tells most.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/analysis/findings/oom_events.h"
#include "engine/analysis/report/summary.h"
#include "engine/model/recording.h"
#include "engine/replay/default_device.h"

namespace gpustrata::analysis {

struct Contents {
  struct Device {
    int32_t device = 0;
    int64_t events = 0, segments = 0;
    OomEvents oom;                        // at most 100 of them; `findEvent` finds the rest
    std::optional<int64_t> first_oom_us;  // since the Unix epoch, by the clock of the machine that recorded
  };
  struct Snapshot {
    std::string_view name;
    std::vector<Device> devices;  // pinned host memory last
    std::optional<int32_t> first_shown;
  };

  std::string_view format;
  std::vector<Snapshot> snapshots;
  int64_t series = 0;     // parts that are numbers over time
  int64_t fleets = 0;     // parts that are many ranks
  bool is_trace = false;  // of a profiler: without snapshots it has no memory records
  bool damaged = false;   // Diagnostics::incomplete(): no number of it is whole
  std::optional<replay::DeviceChoice> first_shown;
  std::vector<Finding> findings;
};
// O(segments * devices + events).
[[nodiscard]] Contents find_contents(const model::Recording& recording);

struct DevicePeak {
  int32_t device = 0;
  int64_t bytes = 0;
};

}  // namespace gpustrata::analysis
