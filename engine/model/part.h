// Part: one thing that a file tells about, and which rows of the recording's tables are its own.
//
// A file may hold several (a user's own dict of snapshots, an archive): they share the tables. What a part
// can answer is in its capabilities, not in its kind: views and analyses ask those.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/model/clock.h"
#include "engine/model/tables.h"

namespace gpustrata::model {

// History of one device: rows of EventTable in the order of the file.
struct DeviceTrace {
  int32_t device = 0;  // index in `device_traces`
  RowRange events;
  // Of a profiler: row of RecordTable of the first event, the others follow; -1 = there are none.
  int32_t first_record = -1;
  // Rows of BlockTable: what was there before the first event and is not freed, where no segments say so.
  RowRange from_start{};
  // Older events were written over, as the recorder says; none = it says nothing.
  std::optional<bool> lost_oldest{};
};

enum class PartKind : uint8_t {
  snapshot,  // what an allocator did and the state that it led to
  trace,     // what a profiler saw: things that begin and end
  series,    // numbers over time
  fleet,     // what was reduced from many ranks: a text that only the page looks into
};

// What the series of a part are to each other.
// counters: of devices, each for itself; categories: of memory, they add up to all of it that is in use on their device;
// operators: counters after each operator call, whose name is the label of the first series.
GPUSTRATA_WORDS(SeriesAre, counters, categories, operators);

// What there is to see, looked up once in Recording::seal(). In a file that gives the same rows to many
// parts, those beyond the limit below count as without.
struct Capabilities {
  bool events = false;       // allocations and frees, in order
  bool times = false;        // of one of them at least
  bool stacks = false;       // of an event or a block
  bool pools = false;        // an event or a segment says its pool
  bool final_state = false;  // segments and blocks at the end
  // A profiler told it, not the allocator: segments, what is cached in them and what the device had free are not
  // known, and the stack of a free is of who freed.
  bool profiled = false;
  bool settings = false;     // of the allocator
  bool annotations = false;  // regions the program named
  bool categories = false;   // an event says what its memory is for
  bool series = false;       // numbers over time
  bool spans = false;        // ops, annotations and calls, with threads
  bool fleet = false;        // facts and curves of many ranks

  bool operator==(const Capabilities&) const = default;
};

// Per file; no machine has more. Work is done per device, so a file that invents millions of them, or that
// gives the same events to many, must not cause it. Listing a device means to look at its events and at the
// segments of its part: together at most kMaxLookedAt rows, and kMaxRepeats times what the file has.
inline constexpr size_t kMaxDevices = 1024;
inline constexpr int64_t kMaxLookedAt = int64_t{1} << 22;
inline constexpr int64_t kMaxRepeats = 16;

// A group of processes, such as those of a tensor-parallel layer.
struct LaunchGroup {
  std::string kind;  // "tp", "pp", "dp", ...
  std::string name;  // the lowest rank in it; of "pp" the stage of the process, 0, 1, ...
};

// The place of a process among those of its job, as the file itself says; -1 = it does not.
struct Launch {
  int32_t rank = -1, world_size = -1;
  std::vector<LaunchGroup> groups;  // that it is in; few
};

struct Part {
  PartKind kind = PartKind::snapshot;
  std::string name;                 // key or index in a user's wrapper; empty if the file is the part
  std::string told_by;              // why it was read as this, sentences for a person; empty = made here
  Clock clock;                      // of all its times
  bool has_clock = true;            // false: times are steps, such as operator calls
  RowRange segments;                // all devices
  std::vector<DeviceTrace> traces;  // ascending devices
  bool has_host = false;            // host_segments or host_traces present
  RowRange host_segments;
  RowRange host_events;
  RowRange annotations;
  RowRange series;
  SeriesAre series_are = SeriesAre::counters;
  RowRange spans;          // of all threads; the parts of one trace share them
  StringId settings_json;  // allocator_settings as JSON text; none = absent
  int32_t fleet = -1;      // index in Recording::fleets
  Launch launch;           // which of how many processes wrote it
  bool is_open = false;    // a journal that its program did not end: killed, or it went on

  // Set by Recording::seal().
  Capabilities capabilities;
  size_t most_devices = kMaxDevices;

  // Ordinals with segments or events, ascending, at most `most_devices`.
  [[nodiscard]] std::vector<int32_t> devices(const SegmentTable& segments) const;
  // Empty range if the device has no trace. O(log devices).
  [[nodiscard]] RowRange events_of(int32_t device) const;
  // Null if the device has none. O(log devices).
  [[nodiscard]] const DeviceTrace* trace_of(int32_t device) const;
};

}  // namespace gpustrata::model
