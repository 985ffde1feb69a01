// Segments that were never full: how much of each was in use at most at once, over the whole recording.
//
//   segment      a piece of device memory that appears and goes as a whole (StateHistory::ranges); of an expandable
//                segment each piece that was mapped by itself
//   in use       bytes of blocks in it, also of those that wait to be freed, as large as the allocator made them; of a
//                block that reaches into the next piece the part that lies in this one
//   never used   bytes of the segment less the most that was in use at once: a segment that much smaller would have held
//                as much. What was in use before the recording began is not known.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/device/event_context.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostNeverFull = 20;

struct NeverFullSegment {
  uint64_t segment = 0;  // its address
  int32_t range = -1;    // row of StateHistory::ranges
  int64_t segment_bytes = 0;
  int64_t most_in_use = 0;  // bytes
  int32_t most_event = -1;  // first event after which they were; -1 = from the start
  int32_t from_event = -1;  // it is there after events [from_event, until_event); -1 = from the start
  int32_t until_event = 0;  // the number of events = it is never given back
  bool expandable = false;

  [[nodiscard]] int64_t never_used() const { return segment_bytes - most_in_use; }
};

struct NeverFull {
  bool has_history = true;  // false: how full they were before is not known, and all else is 0
  int64_t all_segments = 0;
  bool has_pieces = false;  // some of them are pieces of expandable segments
  int64_t segments = 0;     // those of them that were never full
  int64_t never_used = 0;   // bytes of all of them; such that follow each other in time are both counted
  std::vector<NeverFullSegment> worst;  // most bytes never used first, at most kMostNeverFull
};

// O((blocks + segments) * log). Error: limit_exceeded.
[[nodiscard]] Result<NeverFull> find_never_full(const EventContext& context);

}  // namespace gpustrata::analysis
