// What a view of the timeline tells: structs that session/view.h fills and answers/details/timeline_view.h writes.
//
// Events are indices, -1 = before the first; ranks are numbers of bands, -1 = none; sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/analysis/details/block_details.h"
#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/device/event_context.h"
#include "engine/analysis/live/block_groups.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/base/words.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(BandKind, blocks, pools, segments);

struct ViewInfo {
  BandKind bands = BandKind::blocks;
  int32_t device = 0;
  int64_t events = 0, blocks = 0, from_start = 0, pools = 0;
  bool has_history = false;  // events besides those that mark a snapshot
  int64_t peak_bytes = 0, peak_event = -1, initial_bytes = 0, final_bytes = 0;
  int64_t reserved_peak = 0, reserved_final = 0;
  int64_t extent_events = 0;
  std::optional<int64_t> extent_us, first_time_us, last_time_us;
  std::vector<int32_t> oom_events;  // at most 1000
  // What the device gave this process in all: reserved, and what was free at the last event that ran out of memory.
  std::optional<int64_t> capacity;
  bool has_stacks = false;  // of events, or of blocks of the final state
  int64_t segments = 0;
  bool is_processor = false;       // a profiler's trace of the processor's memory
  bool has_ops = false;            // a profiler's trace: ops with memory records
  bool has_series = false;         // the file tells of numbers over time besides
  std::string_view settings_json;  // empty: none are known
};

// The state that a column shows.
struct BandPick {
  int32_t event = -1;
  std::optional<int64_t> time_us;
  int64_t level = 0, allocated = 0, reserved = 0;  // allocated: requested bytes in use, level less pending
  int32_t rank = -1;                               // -1 = no band at that height
  std::string name;
  int64_t size = 0;               // of an envelope its height then
  std::optional<int64_t> active;  // of an envelope: bytes of its blocks
};

// The kind at a height of the stack by group, in the state that a column shows.
struct GroupPick {
  int32_t kind = -1;             // the number of kinds: what pools keep unused
  Share share;                   // of the kind
  std::optional<Share> matched;  // what the filter means of it
};

struct PlaceOfBand {
  int64_t from = 0, to = 0;  // on the axis
  int64_t offset = 0;        // bytes below the band at its birth
  int64_t size = 0;
};

// Room for words in a band, or by group in what is left of a kind.
struct BandLabel {
  int32_t rank = -1;  // -1 = of a kind
  int32_t kind = -1;  // of `kinds`; their number = what pools keep unused
  int64_t size = 0;
  std::string name;       // of an envelope
  Who who;                // nothing: there is room for the size only, or it is not known
  double x0 = 0, x1 = 0;  // axis
  double y0 = 0, y1 = 0;  // bytes
};

struct Shares {
  int32_t event = -1;
  int64_t level = 0;
  std::vector<Share> kinds;
  std::optional<int64_t> unused;  // of pools: bytes of envelopes that no block uses
  std::optional<Share> matched;   // of the filter
};

// The envelope of a private pool, at the end.
struct EnvelopeDetails {
  int32_t rank = -1;
  std::string name;
  PoolId pool;
  StreamId stream;
  int32_t stream_number = 0;
  int64_t capacity = 0, reserved_final = 0, active_final = 0, peak_active = 0, blocks = 0;
  int32_t born_event = -1;
};

// A segment, or the piece of one that came with an event.
struct SegmentBand {
  int32_t rank = -1;
  int64_t piece = 0;  // bytes
  EventContext context;
  StateSegment segment;
};

// None: there is no such band any more.
using BandDetails = std::variant<std::monostate, BlockDetails, EnvelopeDetails, SegmentBand>;

}  // namespace gpustrata::analysis
