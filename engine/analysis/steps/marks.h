// What a program wrote into its recording about itself: regions of its run, and single moments.
//
// Regions are pairs of START and END of external_annotations (of this device; joined to events by time: an
// event index is that of the first event at or after the time) and of user_defined events. Pairs of one name
// nest. A START without an END lasts to the end of the recording, an END without a START began before it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostRegions = 2000, kMostMarkers = 2000;

// A region as it was found. Times are ticks of the part's clock; kNoTime = its border is not in the recording.
struct Region {
  StringId name;
  int64_t from_time = model::kNoTime, to_time = model::kNoTime;
  int32_t from_event = 0, to_event = 0;
  int32_t order = 0;  // in which they came
  bool cut_start = false, cut_end = false;
};
// All of them, in the order of their beginnings as the file has them. One pass over the events. Error:
// limit_exceeded.
[[nodiscard]] Result<Column<Region>> find_regions(const model::Recording& recording, const model::Part& part,
                                                  const replay::DeviceRows& rows);

struct MarkedRegion {
  StringId name;
  int32_t from_event = 0, to_event = 0;
  std::optional<int64_t> from_us, to_us;
  int32_t depth = 0;                             // 0 for the outermost
  bool cut_start = false, cut_end = false;       // its border is not in the recording
  int64_t allocated_bytes = 0, allocations = 0;  // of the alloc events in [from_event, to_event)
};

struct Marker {
  trace::Action action{};  // oom, snapshot, annotate
  int32_t event = 0;
  std::optional<int64_t> time_us;
  int64_t size = 0;  // oom: bytes requested
  StringId text;     // annotate
};

struct Marks {
  std::vector<MarkedRegion> regions;  // at most kMostRegions, those of most events; by start
  int64_t regions_left_out = 0;
  std::vector<Marker> markers;  // at most kMostMarkers, the first
  int64_t markers_left_out = 0;
};

// One pass over the events. Error: limit_exceeded.
[[nodiscard]] Result<Marks> find_marks(const model::Recording& recording, const model::Part& part,
                                       const replay::DeviceRows& rows);

}  // namespace gpustrata::analysis
