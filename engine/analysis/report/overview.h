// What is known of one device, ordered by what matters: the first thing to read about a recording.
//
// Bytes are exact. "Requested" is what programs asked for, by the rule of the timeline (replay/block_lives.h);
// reserved is the sum of the segments. Events are indices into the device's trace; -1 is the state before the
// first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/analysis/live/top.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostPeakLines = 5;

// Reserved against requested at one moment.
struct Use {
  int32_t event = -1;
  std::optional<int64_t> reserved;  // none: a trace that does not say
  int64_t requested = 0;
  // Reserved memory that no request fills: rounding, gaps, cached blocks. Never negative: segments that the
  // recording does not know may hold more than is reserved.
  [[nodiscard]] std::optional<int64_t> unused() const {
    if (!reserved) return std::nullopt;
    return *reserved > requested ? *reserved - requested : 0;
  }
};

struct OutOfMemoryEvent {
  int32_t event = 0;
  std::optional<int64_t> time_us;
  int64_t requested = 0;               // rounded up to a block
  std::optional<int64_t> device_free;  // outside of the segments
};

// Memory of blocks that are older than the first event.
struct FromBefore {
  int64_t bytes_at_start = 0, bytes_at_peak = 0, bytes_at_end = 0;
  int64_t blocks = 0;
};

enum class NotRecorded : uint8_t {
  history,      // the device has no events but those that mark a snapshot; not told of a damaged file
  stacks,       // no event has one
  frames,       // stacks were asked for, but none has frames
  some_stacks,  // blocks alive at the peak have none, 0.5 % of it or more; not told of a damaged file
  times,        // no event has a time
  addresses,    // of a profiler's records: which free ended which block is told by its size only
  // The recorder says that it wrote over them; or perhaps: the number of events is a round one, or blocks that are older
  // than the first event have stacks.
  oldest_events,
  end,     // of the program: Part::is_open
  device,  // there was none: an estimate (capture/python/gpustrata/_estimate)
};
struct Missing {
  NotRecorded what;
  // Of some_stacks: all of it, and what was allocated before the first event.
  int64_t bytes = 0, older_bytes = 0;
  bool is_sure = true;      // false: perhaps
  bool has_stacks = false;  // of oldest_events: older blocks have
};

struct Overview {
  explicit Overview(Budget& budget) : peak_lines(budget) {}

  int32_t device = 0;
  bool is_processor = false;                      // a profiler's trace of the processor's memory
  int32_t events = 0;                             // 0 = no history
  std::optional<OutOfMemoryEvent> out_of_memory;  // the first
  int64_t out_of_memory_events = 0;               // all of them

  int64_t peak_bytes = 0;
  int32_t peak_event = -1;
  std::optional<int64_t> peak_time_us;
  // By line, the largest first, at most kMostPeakLines; `rest` are the others. All together are peak_bytes.
  Top peak_lines;

  Use at_peak, at_end;
  std::optional<int64_t>
      reserved_at_start;  // before the first event; none: a trace that does not say, or no history
  // Where most was reserved; of all these moments the first at which most was requested.
  Use highest_reserved;
  std::optional<FromBefore> from_before;  // none: nothing was, or the file is damaged and cannot tell
  std::vector<Missing> missing;

  [[nodiscard]] bool lacks(NotRecorded what) const {
    return std::any_of(missing.begin(), missing.end(),
                       [what](const Missing& one) { return one.what == what; });
  }
};

// `lines`: keys by line, where they are at hand. O(events + blocks log blocks). Error: limit_exceeded.
[[nodiscard]] Result<Overview> find_overview(const model::Recording& recording, const model::Part& part,
                                             const replay::BlockLives& lifetimes,
                                             const Keys* lines = nullptr);

}  // namespace gpustrata::analysis
