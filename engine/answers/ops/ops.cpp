#include "engine/answers/ops/ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/text/bounded.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::OpBy;
using analysis::OpGroups;
using analysis::OpRow;
using analysis::ProfilerRow;

namespace {

constexpr size_t kMostAround = 200;  // names around an op

// Far from 0 in either direction.
[[nodiscard]] int64_t size_of(int64_t bytes) { return bytes < 0 ? saturated_difference(0, bytes) : bytes; }

// Most first; then what allocated most, so that columns of zeros have an order that tells something.
template <typename KeyOf>
[[nodiscard]] bool sort_rows(size_t rows, Column<int32_t>& order, KeyOf key_of_row) {
  order.clear();
  if (!order.resize(rows, 0)) return false;
  for (size_t i = 0; i < rows; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.data(), order.data() + rows, [&](int32_t a, int32_t b) {
    const auto x = key_of_row(a), y = key_of_row(b);
    return std::tuple(-std::get<0>(x), -std::get<1>(x), std::get<2>(x), a) <
           std::tuple(-std::get<0>(y), -std::get<1>(y), std::get<2>(y), b);
  });
  return true;
}

void describe_group(Members& m, const model::Recording& recording, const OpGroups& groups, int32_t group) {
  m.text("name", [&] { return recording.strings.view(groups.name(group)); });
  const StringId text = m.found([&] { return groups.text(group); });
  const auto is_by = [&](OpBy by) { return m.when([&, by] { return groups.by() == by; }); };
  const auto names = [&](Name name) {
    m.values(
        As::text, name, [&] { return groups.around(group, kMostAround); },
        [&](StringId one) { return in_list(recording.strings.view(one)); });
  };
  const auto one_text = [&](Name name) { m.text(name, [&] { return text_or_none(recording, text); }); };
  if (const auto there = is_by(OpBy::path)) names({"path", "Ops around it, innermost first."});
  if (const auto there = is_by(OpBy::shape)) one_text("shapes");
  if (const auto there = is_by(OpBy::module)) one_text("module");
  if (const auto there = is_by(OpBy::stack)) {
    if (m.is_schema())
      return m.written(As::any, {"stack", "A text, or names, innermost first."}, [](JsonWriter&) {});
    if (text.is_none()) return names("stack");
    one_text("stack");
  }
}

}  // namespace

model::Diagnostics noticed(const model::Recording& recording, const analysis::OpTable& table) {
  model::Diagnostics all = recording.diagnostics;
  if (table.sums_cut > 0) all.add_many(model::Diag::sums_cut, table.sums_cut);
  return all;
}

bool sorted_rows(const model::Recording& recording, const analysis::ProfilerTable& table, OpSort sort,
                 Column<int32_t>& order) {
  const bool self = sort != OpSort::net;
  return sort_rows(table.rows.size(), order, [&](int32_t i) {
    const ProfilerRow& row = table.rows[i];
    const int64_t device = self ? row.self_device : row.device, cpu = self ? row.self_cpu : row.cpu;
    return std::tuple(size_of(table.shows_devices ? device : cpu),
                      size_of(table.shows_devices ? cpu : device), recording.strings.view(row.name));
  });
}

std::string op_text(const model::Recording& recording, const OpGroups& groups, int32_t group) {
  const auto text_of = [&](StringId id) { return in_list(recording.strings.view(id)); };
  std::string text = text_of(groups.name(group));
  if (const StringId detail = groups.text(group); !detail.is_none()) return text + "  " + text_of(detail);
  constexpr size_t kShownAround = 8;
  for (const StringId name : groups.around(group, kShownAround)) text += " < " + text_of(name);
  return text;
}

std::string row_name(const model::Recording& recording, const ProfilerRow& row) {
  if (row.is_step) return "ProfilerStep*";
  return row.name.is_none() ? "[memory]" : std::string(recording.strings.view(row.name));
}

std::string negative_self_text(const model::Recording& recording, const OpGroups& groups, const OpRow& row) {
  if (row.self >= 0) return {};
  if (row.freed_bytes == 0) return "It frees more than it allocates.";
  const std::string freed = size_text(row.freed_bytes);
  if (row.freed_group < 0)
    return fmt::format("{} freed here were allocated before the trace or outside of ops.", freed);
  return fmt::format("{} freed here were allocated by {}.", freed,
                     op_text(recording, groups, row.freed_group));
}

void describe_numbers(Members& m, const OpRow& row, bool has_addresses) {
  m.count({"calls", "All of the operator, whether memory was recorded in them or not.", "Calls"}, row.calls);
  m.bytes({"net", "Allocated less freed, with the ops inside of it.", "Net"}, row.net);
  m.bytes(
      {"self",
       "Allocated less freed by the op itself, without the ops inside of it. Negative: it frees what others "
       "allocated.",
       "Self"},
      row.self);
  m.bytes({"gross", "All that was allocated in it, whether freed or not.", "Allocated"}, row.gross);
  m.bytes({"peak", "The most that one call added at worst: so much must be free to run it.", "Peak"},
          row.peak);
  m.bytes({"abs_peak", "The most the device held while it ran, whoever filled it.", "How full"},
          row.abs_peak);
  const auto if_known = [&](int64_t bytes) { return has_addresses ? std::optional(bytes) : std::nullopt; };
  m.bytes(
      {"at_peak",
       "Allocated in it and in use when the device is at its peak: what to cut. An op counts what the ops "
       "inside of it allocated, too; what was there before the first event, or came outside of ops, is in "
       "none of them. Not known where records have no addresses.",
       "At peak"},
      if_known(row.at_peak));
  m.bytes({"freed", "All that was freed in it, whoever had allocated it.", "Freed"}, row.freed);
  m.bytes({"at_return",
           "Allocated in it and not freed when it ends, all calls together: what it leaves behind. Not known "
           "where records have no addresses.",
           "At return"},
          if_known(row.at_return));
}

void describe_device(Members& m, const analysis::OpDevice& device) {
  m.text("device", device.name);
  m.count("records", device.records);
  m.count("allocs", device.allocs);
  m.count("frees", device.frees);
  m.bytes({"base_bytes", "Before the trace."}, device.base);
  m.bytes("peak_bytes", device.peak);
  m.bytes({"net_bytes", "Allocated less freed."}, device.net);
  m.bytes({"unowned_bytes", "Net of records in no op."}, device.unowned);
}

Result<OpsLine> OpsLine::make(const model::Recording& recording, const analysis::OpTable& table, OpSort sort,
                              std::string_view file) {
  OpsLine line{recording, table, file, Column<Row>(recording.budget)};
  Column<int32_t> order(recording.budget);
  for (const analysis::OpDevice& device : table.devices) {
    bool fits = analysis::sort_ops(recording, table, device, sort, order);
    for (const int32_t i : order) fits = fits && line.rows.push_back({&device, &device.rows[i]});
    if (!fits)
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to sort {} ops", device.rows.size());
  }
  return line;
}

void describe(Members& m, const OpsLine& line) {
  m.line({"ops --json", "What the ops of a trace did with memory, device by device."});
  m.text("file", line.file);
  m.text("format", [&] { return line.recording.format; });
  m.list(
      "devices", [&] { return std::span(line.table.devices); },
      [&](const analysis::OpDevice& device) { describe_device(m, device); });
  m.list({"ops", "As they are sorted."}, line.rows, [&](const OpsLine::Row& row) {
    m.text("device", [&] { return row.device->name; });
    describe_group(m, line.recording, line.table.groups, m.found([&] { return row.op->group; }));
    const OpRow& op = m.is_schema() ? Members::sample<OpRow>() : *row.op;
    describe_numbers(m, op, !m.is_schema() && row.device->has_addresses);
  });
  m.list("diagnostics", [&] { return analysis::findings(noticed(line.recording, line.table)); });
}

Result<ProfilerRows> ProfilerRows::make(const model::Recording& recording,
                                        const analysis::ProfilerTable& table, OpSort sort) {
  ProfilerRows rows{recording, table, Column<int32_t>(recording.budget)};
  if (sorted_rows(recording, table, sort, rows.order)) return rows;
  return fail(ErrorCode::limit_exceeded, -1, "not enough memory to sort {} rows", table.rows.size());
}

void describe(Members& m, const ProfilerLine& line) {
  const ProfilerRows& rows = m.of(line.rows);
  const model::Recording& recording = rows.recording;
  m.line({"ops --mode pytorch --json", "PyTorch's own table (key_averages)."});
  m.text("file", line.file);
  m.text("format", [&] { return recording.format; });
  m.list("ops", rows.order, [&](int32_t i) {
    const ProfilerRow& row = m.is_schema() ? Members::sample<ProfilerRow>() : rows.table.rows[i];
    m.text("name", [&] { return row_name(recording, row); });
    if (const auto there = m.when(line.by_shapes))
      m.text("shapes", [&] { return text_or_none(recording, row.shapes); });
    m.count("calls", row.calls);
    m.bytes("cpu_memory_usage", row.cpu);
    m.bytes("self_cpu_memory_usage", row.self_cpu);
    m.bytes("device_memory_usage", row.device);
    m.bytes("self_device_memory_usage", row.self_device);
  });
  m.list("diagnostics", [&] { return analysis::findings(recording.diagnostics); });
}

std::string profiler_size_text(int64_t bytes) {
  constexpr int64_t kKib = 1024, kMib = kKib * 1024, kGib = kMib * 1024;
  const int64_t size = size_of(bytes);
  const auto in = [&](int64_t unit, std::string_view name) {
    return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
  };
  if (size >= kGib) return in(kGib, "GB");
  if (size >= kMib) return in(kMib, "MB");
  if (size >= kKib) return in(kKib, "KB");
  return fmt::format("{} B", bytes);
}

}  // namespace gpustrata::answers
