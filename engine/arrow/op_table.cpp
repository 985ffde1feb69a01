#include "engine/arrow/op_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/analysis/ops/op_list.h"
#include "engine/arrow/table_builder.h"

namespace gpustrata::arrow {

namespace {

using analysis::OpDevice;
using analysis::OpRow;

[[nodiscard]] bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

[[nodiscard]] bool is_asked_for(const OpDevice& device, std::string_view wanted) {
  if (wanted.empty() || device.name == wanted) return true;
  return is_number(wanted) && device.name.ends_with(fmt::format(":{}", wanted));
}

// The dictionaries of the columns `name` and `device`.
struct OpTexts {
  int32_t names, devices;
};

// `order`: rows of the device as they are shown. `at`: its place among the devices that are shown.
void add_ops(TableBuilder& table, const analysis::OpTable& ops, const OpDevice& device,
             const Column<int32_t>& order, const OpTexts& dictionaries, int32_t at) {
  const size_t count = order.size();
  const auto numbers = [&](const char* column, int64_t OpRow::*number) {
    table.add({column, "l"},
              table.made<int64_t>(count, [&](size_t i) { return device.rows[order[i]].*number; }));
  };
  Column<StringId> ids(table.recording().budget);
  for (const int32_t row : order) {
    if (!ids.push_back(ops.groups.name(device.rows[row].group))) return (void)table.refuse();
  }
  table.begin_batch(count);
  table.add_texts("name", ids, Rows{{0, static_cast<int32_t>(count)}}, dictionaries.names);
  table.add({"device", "i", false, {}, dictionaries.devices},
            table.made<int32_t>(count, [&](size_t) { return at; }));
  numbers("calls", &OpRow::calls);
  numbers("net", &OpRow::net);
  numbers("self", &OpRow::self);
  numbers("gross", &OpRow::gross);
  numbers("peak", &OpRow::peak);
  numbers("abs_peak", &OpRow::abs_peak);
  const auto known_by_address = [&](const char* column, int64_t OpRow::*number) {
    Array array = table.made<int64_t>(count, [&](size_t i) { return device.rows[order[i]].*number; });
    table.set_nulls(array, [&](size_t) { return !device.has_addresses; });
    table.add({column, "l", true}, std::move(array));
  };
  known_by_address("at_peak", &OpRow::at_peak);
  numbers("freed", &OpRow::freed);
  known_by_address("at_return", &OpRow::at_return);
  table.end_batch();
}

}  // namespace

Result<std::shared_ptr<const Table>> make_op_table(const model::Recording& recording,
                                                   std::shared_ptr<const void> keeps, int32_t snapshot,
                                                   std::string_view device, analysis::OpScope scope) {
  const auto part_count = static_cast<int32_t>(recording.parts.size());
  if (snapshot < -1 || snapshot >= part_count)
    return fail(ErrorCode::wrong_usage, -1, "There is no snapshot {} in this file; it has {}.", snapshot,
                part_count);
  const auto is_of_trace = [](const model::Part& part) { return part.kind == model::PartKind::trace; };
  const bool has_ops = snapshot >= 0
                           ? is_of_trace(recording.parts[static_cast<size_t>(snapshot)])
                           : std::any_of(recording.parts.begin(), recording.parts.end(), is_of_trace);
  if (!has_ops)
    return fail(ErrorCode::unsupported, -1,
                "This is no trace of a profiler, so it names no ops; top() says who holds memory.");
  const auto ops = analysis::find_op_memory(recording, analysis::OpBy::op, scope);
  if (!ops) return tl::unexpected(ops.error());

  std::vector<const OpDevice*> shown;
  std::vector<std::string_view> names;
  std::string known;
  for (const OpDevice& one : ops->devices) {
    if (snapshot >= 0 && one.part != snapshot) continue;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
    if (!is_asked_for(one, device)) continue;
    shown.push_back(&one);
    names.emplace_back(one.name);
  }
  if (shown.empty() && !device.empty())
    return fail(ErrorCode::wrong_usage, -1,
                "There is no device {} with memory records in this trace. Devices: {}.", device,
                known.empty() ? "none" : known);

  auto table = std::make_shared<Table>(std::move(keeps));
  TableBuilder builder(recording, table);
  const OpTexts dictionaries{builder.counted_texts(), builder.words(names)};
  Column<int32_t> order(recording.budget);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!analysis::sort_ops(recording, *ops, *shown[i], analysis::OpSort::at_peak, order)) builder.refuse();
    if (!builder.stopped()) add_ops(builder, *ops, *shown[i], order, dictionaries, static_cast<int32_t>(i));
  }
  if (shown.empty()) {  // the columns are there, too
    order.clear();
    add_ops(builder, *ops, OpDevice(recording.budget), order, dictionaries, 0);
  }
  builder.finish();
  if (builder.stopped()) return tl::unexpected(builder.status().error());
  return table;
}

}  // namespace gpustrata::arrow
