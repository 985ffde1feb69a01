#include "engine/answers/ops/ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

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

void findings(JsonWriter& json, const model::Diagnostics& diagnostics) {
  json.key("diagnostics");
  to_json(json, analysis::findings(diagnostics));
}

void device_to_json(JsonWriter& json, const analysis::OpDevice& device) {
  json.begin_object();
  json.member("device", device.name);
  json.member("records", device.records);
  json.member("allocs", device.allocs);
  json.member("frees", device.frees);
  json.member("base_bytes", device.base);
  json.member("peak_bytes", device.peak);
  json.member("net_bytes", device.net);
  json.member("unowned_bytes", device.unowned);
  json.end_object();
}

void group_to_json(JsonWriter& json, const model::Recording& recording, const OpGroups& groups,
                   int32_t group) {
  json.member("name", recording.strings.view(groups.name(group)));
  const StringId text = groups.text(group);
  const auto text_or_null = [&](std::string_view key) {
    json.key(key);
    if (text.is_none()) {
      json.null();
    } else {
      json.value(in_list(recording.strings.view(text)));
    }
  };
  const auto names = [&](std::string_view key) {
    json.key(key);
    json.begin_array();
    for (const StringId name : groups.around(group, kMostAround))
      json.value(in_list(recording.strings.view(name)));
    json.end_array();
  };
  switch (groups.by()) {
    case OpBy::op:
      break;
    case OpBy::path:
      names("path");
      break;
    case OpBy::shape:
      text_or_null("shapes");
      break;
    case OpBy::module:
      text_or_null("module");
      break;
    case OpBy::stack:
      if (text.is_none()) {
        names("stack");
      } else {
        text_or_null("stack");
      }
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

Status write_json_line(TextOut& out, const model::Recording& recording, const analysis::OpTable& table,
                       OpSort sort, std::string_view file) {
  JsonWriter json = out.json();
  json.begin_object();
  json.member("file", file);
  json.member("format", recording.format);
  json.key("devices");
  json.begin_array();
  for (const analysis::OpDevice& device : table.devices) device_to_json(json, device);
  json.end_array();
  json.key("ops");
  json.begin_array();
  Column<int32_t> order(recording.budget);
  for (const analysis::OpDevice& device : table.devices) {
    if (!analysis::sort_ops(recording, table, device, sort, order))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to sort {} ops", device.rows.size());
    for (const int32_t i : order) {
      const OpRow& row = device.rows[i];
      json.begin_object();
      json.member("device", device.name);
      group_to_json(json, recording, table.groups, row.group);
      json.member("calls", row.calls);
      json.member("net", row.net);
      json.member("self", row.self);
      json.member("gross", row.gross);
      json.member("peak", row.peak);
      json.member("abs_peak", row.abs_peak);
      json.member("at_peak", row.at_peak);
      json.member("freed", row.freed);
      json.member("at_return", device.has_addresses ? std::optional(row.at_return) : std::nullopt);
      json.end_object();
    }
  }
  json.end_array();
  findings(json, noticed(recording, table));
  json.end_object();
  out.end_line(json);
  return {};
}

Status write_json_line(TextOut& out, const model::Recording& recording, const analysis::ProfilerTable& table,
                       bool by_shapes, OpSort sort, std::string_view file) {
  Column<int32_t> order(recording.budget);
  if (!sorted_rows(recording, table, sort, order))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to sort {} rows", table.rows.size());
  JsonWriter json = out.json();
  json.begin_object();
  json.member("file", file);
  json.member("format", recording.format);
  json.key("ops");
  json.begin_array();
  for (const int32_t i : order) {
    const ProfilerRow& row = table.rows[i];
    json.begin_object();
    json.member("name", row_name(recording, row));
    if (by_shapes) {
      json.key("shapes");
      if (row.shapes.is_none()) {
        json.null();
      } else {
        json.value(in_list(recording.strings.view(row.shapes)));
      }
    }
    json.member("calls", row.calls);
    json.member("cpu_memory_usage", row.cpu);
    json.member("self_cpu_memory_usage", row.self_cpu);
    json.member("device_memory_usage", row.device);
    json.member("self_device_memory_usage", row.self_device);
    json.end_object();
  }
  json.end_array();
  findings(json, recording.diagnostics);
  json.end_object();
  out.end_line(json);
  return {};
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
