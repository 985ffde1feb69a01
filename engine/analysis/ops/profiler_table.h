// The memory columns of PyTorch's own table, key_averages().table(), from a trace: so that people can compare. Its known
// errors are part of it: records of all threads count for whatever runs at that moment, both ends of an interval belong
// to it, near today's times the ends are off by up to a quarter of a microsecond, and all devices are one column.
// op_memory.h has the numbers that add up.
//
//  1. Spans on the host that are no Python functions hold all memory records of the file from their start to their
//     end. Records that none holds are a row of their own, "[memory]".
//  2. A span is the child of the last one of its thread that began before and does not end before it.
//  3. An only child of the same name is merged into its parent.
//  4. Self is what a span holds less what its children hold. Rows of one name (annotations apart) are added up.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/ops/op_groups.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct ProfilerRow {
  StringId name;    // none: memory that no span holds
  StringId shapes;  // asked for and recorded
  bool is_annotation = false;
  bool is_step = false;  // ProfilerStep#1, #2, ... are one row, "ProfilerStep*"
  int64_t calls = 0;
  int64_t cpu = 0, self_cpu = 0;        // bytes
  int64_t device = 0, self_device = 0;  // of all CUDA, HIP and PrivateUse1 devices
};

struct ProfilerTable {
  explicit ProfilerTable(Budget& budget) : rows(budget) {}
  Column<ProfilerRow> rows;    // in order of the first span of each
  bool shows_devices = false;  // the columns of devices are there: a self of them is above 0
};

// Of all traces in the recording together. O(n log n). Error: limit_exceeded.
[[nodiscard]] Result<ProfilerTable> find_profiler_table(const model::Recording& recording, bool by_shapes);

}  // namespace gpustrata::analysis
