// Tables of ops as JSON, and what their numbers mean in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/analysis/ops/op_list.h"
#include "engine/analysis/ops/profiler_table.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/column.h"
#include "engine/base/json_writer.h"
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

// {"file","format","devices":[{"device","records","allocs","frees","base_bytes","peak_bytes","net_bytes",
// "unowned_bytes"}],"ops":[{"device","name","calls","net","self","gross","peak","abs_peak","at_peak","freed",
// "at_return"|null: without addresses}],// "diagnostics":[...]}. Grouped by more than the name, ops have "path", "shapes", "module" or "stack", too.
// Error: limit_exceeded.
[[nodiscard]] Status write_json_line(TextOut& out, const model::Recording& recording,
                                     const analysis::OpTable& table, OpSort sort, std::string_view file);
// {"file","format","ops":[{"name","calls","cpu_memory_usage","self_cpu_memory_usage","device_memory_usage",
// "self_device_memory_usage"}],"diagnostics":[...]}; with "shapes" if asked for.
[[nodiscard]] Status write_json_line(TextOut& out, const model::Recording& recording,
                                     const analysis::ProfilerTable& table, bool by_shapes, OpSort sort,
                                     std::string_view file);

// What the table of a page says of the device, and a window of its lines:
// {"device": {"device","records","allocs","frees","base_bytes","peak_bytes","net_bytes","unowned_bytes","end_bytes",
// "has_addresses"}|null,"count": lines in all,"lines":[{"row","depth","inside","name","detail","calls","net","self","gross","peak",
// "abs_peak","at_peak","freed","at_return"|null,"why": a sentence about a negative self | null,"filter": what lights its blocks | null}]}.
void to_json(JsonWriter& json, const model::Recording& recording, const analysis::OpList& list,
             const analysis::OpList::Lines& lines);
// {"shows_devices","count","lines":[{"name","detail","calls","cpu","self_cpu","device","self_device"}]}; lines [first, first +
// count) of PyTorch's own table. False: memory was refused.
[[nodiscard]] bool to_json(JsonWriter& json, const model::Recording& recording,
                           const analysis::ProfilerTable& table, OpSort sort, int64_t first, int64_t count);

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
