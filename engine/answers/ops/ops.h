// Tables of ops as JSON, and what their numbers mean in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/analysis/ops/op_list.h"
#include "engine/analysis/ops/profiler_table.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/column.h"
#include "engine/base/status.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

using analysis::OpSort;

// The most first: device memory where the table shows it, self unless sorted by net. False: memory was refused.
[[nodiscard]] bool sorted_rows(const model::Recording& recording, const analysis::ProfilerTable& table,
                               OpSort sort, Column<int32_t>& order);

// Name of a group of ops and, if it is grouped by more, what else tells it: "aten::mm  [[2, 3], [3, 4]]".
[[nodiscard]] std::string op_text(const model::Recording& recording, const analysis::OpGroups& groups,
                                  int32_t group);
// "ProfilerStep*", "[memory]".
[[nodiscard]] std::string row_name(const model::Recording& recording, const analysis::ProfilerRow& row);
// Why self is below 0; empty if it is not.
[[nodiscard]] std::string negative_self_text(const model::Recording& recording,
                                             const analysis::OpGroups& groups, const analysis::OpRow& row);

// What was noticed when it was read, and sums that were cut.
[[nodiscard]] model::Diagnostics noticed(const model::Recording& recording, const analysis::OpTable& table);

// A line of `gpustrata ops --json`: the ops of all devices, as they are sorted. Error: limit_exceeded.
struct OpsLine {
  struct Row {
    const analysis::OpDevice* device;
    const analysis::OpRow* op;
  };
  [[nodiscard]] static Result<OpsLine> make(const model::Recording& recording, const analysis::OpTable& table,
                                            OpSort sort, std::string_view file);

  const model::Recording& recording;
  const analysis::OpTable& table;
  std::string_view file;
  Column<Row> rows;
};
void describe(Members& m, const OpsLine& line);

// PyTorch's own table, sorted. Error: limit_exceeded.
struct ProfilerRows {
  [[nodiscard]] static Result<ProfilerRows> make(const model::Recording& recording,
                                                 const analysis::ProfilerTable& table, OpSort sort);

  const model::Recording& recording;
  const analysis::ProfilerTable& table;
  Column<int32_t> order;
};
struct ProfilerLine {
  const ProfilerRows& rows;
  bool by_shapes;
  std::string_view file;
};
void describe(Members& m, const ProfilerLine& line);

// For the page: a window of lines, and what it says of the device. Of a profiler's own table lines [first, first + count).
void describe(Members& m, const model::Recording& recording, const analysis::OpList& list,
              const analysis::OpList::Lines& lines);
void describe(Members& m, const ProfilerRows& rows, int64_t first, int64_t count);

// What both tables have in common.
void describe_device(Members& m, const analysis::OpDevice& device);
void describe_numbers(Members& m, const analysis::OpRow& row, bool has_addresses);
void describe_numbers(Members& m, const analysis::ProfilerRow& row);  // as PyTorch's own table has them

// Lines of at most `columns`, `rows` of each device, then what was noticed. `device`: the only one that was
// asked for, empty = all. Error: limit_exceeded.
[[nodiscard]] Status to_text(TextOut& out, const model::Recording& recording, const analysis::OpTable& table,
                             OpSort sort, std::string_view file, std::string_view device, size_t rows,
                             size_t columns);
[[nodiscard]] Status to_text(TextOut& out, const model::Recording& recording,
                             const analysis::ProfilerTable& table, OpSort sort, std::string_view file,
                             size_t rows, size_t columns);

// As PyTorch prints sizes: "769.00 KB", "-292 B"; the units are binary all the same.
[[nodiscard]] std::string profiler_size_text(int64_t bytes);

}  // namespace gpustrata::answers
