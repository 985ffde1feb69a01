// Recording: everything known of one input file, whichever system wrote it.
//
// Readers append rows; views and analyses only read. One file may hold several snapshots (a user's own
// dict or list of them): they share the tables, and each Snapshot names its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/budget.h"
#include "engine/base/hash.h"
#include "engine/base/string_pool.h"
#include "engine/model/diagnostics.h"
#include "engine/model/tables.h"
#include "engine/trace/stack_table.h"
#include "engine/trace/trace_event.h"

namespace memstrata::model {

using Pool = trace::PoolKey;

// History of one device: rows of EventTable in the order of the file.
struct DeviceTrace {
  int32_t device = 0;  // index in `device_traces`
  RowRange events;
};

// Per file; no machine has more. Work is done per device, so a file that invents millions of them, or that
// gives the same events to many, must not cause it. Listing a device means to look at its events and at the
// segments of its snapshot: together at most kMaxLookedAt rows, and kMaxRepeats times what the file has.
inline constexpr size_t kMaxDevices = 1024;
inline constexpr int64_t kMaxLookedAt = int64_t{1} << 22;
inline constexpr int64_t kMaxRepeats = 16;

struct Part {
  std::string name;                 // key or index in a user's wrapper; empty if the file is the snapshot
  RowRange segments;                // all devices
  std::vector<DeviceTrace> traces;  // ascending devices
  bool has_host = false;            // host_segments or host_traces present
  RowRange host_segments;
  RowRange host_events;
  RowRange annotations;
  StringId settings_json;  // allocator_settings as JSON text; none = absent

  size_t most_devices = kMaxDevices;  // set by Recording::seal()

  // Ordinals with segments or events, ascending, at most `most_devices`.
  [[nodiscard]] std::vector<int32_t> devices(const SegmentTable& segments) const;
  // Empty range if the device has no trace. O(log devices).
  [[nodiscard]] RowRange events_of(int32_t device) const;
};

struct Recording {
  explicit Recording(Budget& budget);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] std::string_view action_name(trace::Action action) const;
  // Rows of `extras` that belong to the row; O(log n) once sealed.
  [[nodiscard]] RowRange extras_of(Owner owner, int32_t row) const;
  // None is -1 in `value`. Adds on first sight; when 32767 are used up: the last one, and a diagnostic.
  [[nodiscard]] StreamId stream_of(int64_t handle);
  [[nodiscard]] PoolId pool_of(Pool pool);
  // Called once by the reader: sorts the side tables, limits the devices that are listed, checks that columns
  // have equal length.
  void seal();

  Budget& budget;
  StringPool strings;
  trace::FrameTable frames;
  trace::StackTable stacks;
  std::vector<int64_t> streams;  // raw handles; index 0 is handle 0
  std::vector<Pool> pools;       // index 0 is (0, 0)
  std::vector<StringId> unknown_actions;
  EventTable events;
  BlockTable blocks;
  HistoryTable history;
  SegmentTable segments;
  AnnotationTable annotations;
  ExtraTable extras;
  std::vector<Part> parts;
  Diagnostics diagnostics;
  int64_t input_bytes = 0;
  std::string format = "pickle";  // "json in gzip": what the snapshots were found in, innermost first

 private:
  struct Mixed {
    size_t operator()(int64_t handle) const {
      return static_cast<size_t>(mix_hash(static_cast<uint64_t>(handle)));
    }
    size_t operator()(const Pool& pool) const {
      return static_cast<size_t>(
          mix_hash(mix_hash(static_cast<uint64_t>(pool.graph_id)) + static_cast<uint64_t>(pool.user_id)));
    }
  };
  void limit_devices();

  std::unordered_map<int64_t, int16_t, Mixed> stream_ids_;  // of `streams`; at most 32768 entries
  std::unordered_map<Pool, int16_t, Mixed> pool_ids_;
};

}  // namespace memstrata::model
