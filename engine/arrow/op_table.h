// The ops of a profiler's trace as a table: one row an op and device, as `gpustrata ops --json` has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/analysis/ops/op_memory.h"
#include "engine/arrow/table.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::arrow {

// Columns: name, device, calls, net, self, gross, peak, abs_peak, at_peak, freed, at_return (analysis/ops/op_memory.h;
// at_peak and at_return null where records lack addresses); by device, the op that holds most of its peak first. `snapshot`: index in
// Recording::parts, -1 = all traces of the file. `device`: as in the column ("cpu", "cuda:0"), a number N = every device
// but the host whose name ends in ":N"; empty = all.
// Error: unsupported (no trace of a profiler), wrong_usage (no such snapshot or device), limit_exceeded.
[[nodiscard]] Result<std::shared_ptr<const Table>> make_op_table(const model::Recording& recording,
                                                                 std::shared_ptr<const void> keeps,
                                                                 int32_t snapshot, std::string_view device,
                                                                 analysis::OpScope scope);

}  // namespace gpustrata::arrow
