// What ops of a profiler's trace did with memory, device by device.
//
// An op is a span of kind op or annotation. It holds the memory records of its thread with start <= t < start +
// duration (t = start if it has no duration). For an instance:
//   net       bytes allocated less bytes freed      gross  bytes allocated      freed  bytes freed: gross less net
//   peak      what it added at worst over its beginning: the highest running sum, at least 0
//   abs_peak  how full the device was at most while it ran, all threads, what was there before included
//   self      net of the records that no op inside of it holds: of those that started last
//   at_peak   bytes it allocated that are alive when the device is at its peak
//   at_return bytes it allocated that are not freed, by whatever thread, before it ends: what it leaves behind
// By name: sums, and the highest peaks. Instances within instances of the same name count twice in sums.
//
// OpScope::process lets an op hold the records of all threads of its process: `record_function` around a backward
// pass, which runs on a thread of its own. Sums are exact, results are cut to 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/analysis/ops/op_groups.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(OpScope, thread, process);

struct OpRow {
  int32_t group = 0;  // of OpTable::groups
  int64_t calls = 0;  // all instances, whether they hold a record or not
  int64_t net = 0, self = 0, gross = 0, freed = 0, peak = 0, abs_peak = 0, at_peak = 0, at_return = 0;
  int32_t peak_span = -1;  // row of SpanTable that reached `peak`
  // Where self is below 0: the group that allocated most of what was freed here, -1 = what was there before or
  // what no op allocated; and how much of it.
  int32_t freed_group = -1;
  int64_t freed_bytes = 0;
};

struct OpDevice {
  explicit OpDevice(Budget& budget) : rows(budget) {}
  std::string name;  // "cpu", "cuda:0"; in an archive behind the name of the member
  int32_t part = 0;  // index in Recording::parts
  int32_t ordinal = 0;
  int64_t records = 0, allocs = 0, frees = 0;
  int64_t base = 0;     // before the first record; 0 if the trace has no totals
  int64_t peak = 0;     // the highest level, `base` included
  int64_t net = 0;      // of all records
  int64_t unowned = 0;  // net of those that no op holds
  // Of every record; else what is alive is not known, and at_peak and at_return mean nothing.
  bool has_addresses = true;
  int64_t sums_cut = 0;  // of its numbers and its rows'
  Column<OpRow> rows;    // ops of which an instance holds a record, by group
};

struct OpTable {
  OpTable(const model::Recording& recording, OpBy by) : groups(recording, by) {}
  OpGroups groups;
  std::vector<OpDevice> devices;  // at most as many as the recording lists
  int32_t devices_left_out = 0;   // the work for them would be too much
  int64_t sums_cut = 0;           // numbers that 64 bits do not hold
};

// "cpu", "cuda:0".
[[nodiscard]] std::string device_name(const model::Part& part, int32_t ordinal);

// Of all traces in the recording; `device` empty or a device_name. O(n log n) per device of n spans and records.
// Error: limit_exceeded.
[[nodiscard]] Result<OpTable> find_op_memory(const model::Recording& recording, OpBy by, OpScope scope,
                                             const std::string& device = {});

}  // namespace gpustrata::analysis
