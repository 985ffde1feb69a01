// One op of a profiler's trace, all that is known of it; and which ops a filter lights.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/analysis/filters/search.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/span_lanes.h"

namespace gpustrata::analysis {

// Records are those of the device that its own thread wrote while it ran (op_memory.h).
struct SpanDetails {
  int32_t span = -1;
  int32_t from_event = 0, to_event = 0;  // of the device, of whatever thread
  int64_t allocs = 0, frees = 0;
  int64_t net = 0, gross = 0, peak = 0;
  std::vector<int32_t> around;  // spans it lies in, innermost first, at most kMostAround
};
inline constexpr size_t kMostAround = 32;

// O(log n + events while it ran). `trace` is that of the device.
[[nodiscard]] SpanDetails span_details(const model::Recording& recording, const model::DeviceTrace& trace,
                                       const replay::SpanAxis& axis, int32_t span);

// Numbers of lit ops before each place of SpanLanes::order(), one more than there are: lit are those that allocated one
// of the blocks, themselves or in an op that they called, and those whose names are looked for (`text` being a word, or
// op:"a name"). O(ops + blocks). Error: limit_exceeded.
[[nodiscard]] Result<Column<int32_t>> count_lit_spans(const model::Recording& recording,
                                                      const model::Part& part,
                                                      const model::DeviceTrace& trace,
                                                      const replay::BlockLives& lives,
                                                      const replay::SpanLanes& lanes, const Matches& blocks,
                                                      std::string_view text);

}  // namespace gpustrata::analysis
