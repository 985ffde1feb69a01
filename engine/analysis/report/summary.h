// The numbers of `gpustrata summary`; the rules are in engine/cli/README.md.
//
// O(events + blocks) per device; the memory of one device's BlockLives is in use meanwhile. A Summary refers
// to the texts of its Recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/analysis/series/series_summary.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

// Requests that the device could not serve: the last of them.
struct OutOfMemory {
  int64_t count = 0;  // of all
  int64_t event = 0;  // index in the device's trace
  int64_t requested_bytes = 0;
  std::optional<int64_t> device_free_bytes;  // as the driver said; what the allocator holds free is not in it
};

struct DeviceSummary {
  int32_t device = 0;
  bool is_processor = false;  // a profiler's trace of the processor's memory
  int64_t events = 0;
  std::vector<std::pair<std::string_view, int64_t>> actions;  // name and count, by first appearance
  // The final state: segments; blocks in use; blocks in use or waiting for a stream. Of a profiler's trace not known,
  // but for what it says of the reserved bytes.
  std::optional<int64_t> segments, blocks;
  std::optional<int64_t> reserved_bytes, allocated_bytes, active_bytes;
  // Requested bytes in live blocks, by the rule of the timeline (replay/block_lives.h).
  int64_t initial_requested_bytes = 0, final_requested_bytes = 0, peak_requested_bytes = 0;
  int64_t peak_event = -1;                     // -1 = the initial state
  std::optional<int64_t> reserved_peak_bytes;  // none: a trace that does not say
  std::optional<OutOfMemory> oom;
  int64_t distinct_stacks = 0;      // of events
  bool blocks_have_frames = false;  // in the final state
  std::optional<int64_t> first_time_us, last_time_us;
};

struct SnapshotSummary {
  std::string_view name;  // empty if the file is the snapshot
  std::vector<DeviceSummary> devices;
  bool has_host = false;
  int64_t host_segments = 0, host_events = 0;
  std::string_view settings_json = "{}";
  int64_t annotations = 0;
};

// What a reader or replaying a device noticed; answers/common/findings.h has the words.
struct Finding {
  model::Diag diag{};
  std::string_view name, severity;
  int64_t count = 0;
  std::optional<int64_t> first_offset;
  std::string first_in;                // what it counts in; empty = the file
  std::optional<int64_t> file_offset;  // where in the file that begins, if first_in is not empty
  std::string detail;                  // of the first; may be empty
};

struct Summary {
  std::string_view format;
  int64_t bytes = 0;
  std::vector<SnapshotSummary> snapshots;
  std::vector<SeriesSummary> series;  // of the parts that are numbers over time
  int64_t fleets = 0;                 // parts that are a reduced fleet
  std::vector<Finding> diagnostics;
};

// Adds what replaying a device found, and events out of time order.
void add_device_diagnostics(model::Diagnostics& diagnostics, const model::Recording& recording,
                            const replay::Bands& bands);
[[nodiscard]] std::vector<Finding> findings(const model::Diagnostics& diagnostics);
// Its diagnostics are the reader's and those of replaying every device.
[[nodiscard]] Result<Summary> summarize(const model::Recording& recording);

}  // namespace gpustrata::analysis
