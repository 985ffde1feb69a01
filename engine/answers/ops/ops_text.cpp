#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/described/heads.h"
#include "engine/answers/ops/ops.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

using analysis::OpDevice;
using analysis::OpRow;
using analysis::OpTable;
using analysis::ProfilerRow;
using analysis::ProfilerTable;

constexpr size_t kLongestOpText = 4096;
constexpr size_t kSpacious = 126;  // columns from which all numbers are shown

// Numbers to the left, the name in what is left of the line.
[[nodiscard]] std::string line_of(const std::string& numbers, const std::string& name, size_t columns) {
  constexpr size_t kLeast = 16;
  const size_t room = columns - std::min(columns - kLeast, numbers.size() + 2);
  return numbers + "  " + fitted(shortened(name, kLongestOpText), room) + "\n";
}

[[nodiscard]] std::string sizes_line(std::initializer_list<std::string> sizes) {
  std::string line = " ";
  for (const std::string& size : sizes) line += fmt::format(" {:>10}", size);
  return line;
}

[[nodiscard]] std::string heading(bool spacious) {
  const Heads heads = heads_of([](Members& m) { describe_numbers(m, Members::sample<OpRow>(), true); });
  const auto head = [&](std::string_view member) {
    std::string text(heads.at(member));
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
    return text;
  };
  std::string line = " ";
  for (const std::string_view member : {"at_peak", "self", "gross", "peak"})
    line += fmt::format(" {:>10}", head(member));
  if (spacious) {
    for (const std::string_view member : {"net", "freed", "at_return", "abs_peak"})
      line += fmt::format(" {:>10}", head(member));
  }
  return line + fmt::format(" {:>8}  op\n", head("calls"));
}

void write_device(TextOut& out, const OpDevice& device) {
  out.print("\n  {}  peak {}", printable(device.name), size_text(device.peak));
  if (device.base != 0) out.print(", of which {} were there before", size_text(device.base));
  out.print("\n    {} memory records: {} allocs, {} frees; net {}", count_text(device.records),
            count_text(device.allocs), count_text(device.frees), size_text(device.net));
  if (device.unowned != 0) out.print(", {} of it in no op", size_text(device.unowned));
  out.add("\n");
  if (!device.has_addresses)
    out.add(
        "    Records without addresses: what is alive at the peak or at the return of an op is not known.\n");
}

[[nodiscard]] Status write_ops(const model::Recording& recording, const OpTable& table, OpSort sort,
                               size_t rows, size_t columns, TextOut& out) {
  Column<int32_t> order(recording.budget);
  for (const OpDevice& device : table.devices) {
    write_device(out, device);
    if (!analysis::sort_ops(recording, table, device, sort, order))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to sort the ops");
    if (order.empty()) {
      out.add("    No op holds a record.\n");
      continue;
    }
    // A step of the profiler holds whatever came in it, and tells nothing that the device's line does not.
    std::stable_partition(order.data(), order.data() + order.size(), [&](int32_t i) {
      return !recording.strings.view(table.groups.name(device.rows[i].group)).starts_with("ProfilerStep#");
    });
    const bool spacious = columns >= kSpacious;
    out.add("\n" + heading(spacious));
    for (size_t i = 0; i < std::min(order.size(), rows) && !out.failed(); ++i) {
      const OpRow& row = device.rows[order[i]];
      const auto if_known = [&](int64_t bytes) { return device.has_addresses ? size_text(bytes) : "?"; };
      std::string numbers =
          sizes_line({if_known(row.at_peak), size_text(row.self), size_text(row.gross), size_text(row.peak)});
      if (spacious)
        numbers += fmt::format(" {:>10} {:>10} {:>10} {:>10}", size_text(row.net), size_text(row.freed),
                               if_known(row.at_return), size_text(row.abs_peak));
      numbers += fmt::format(" {:>8}", count_text(row.calls));
      out.add(line_of(numbers, op_text(recording, table.groups, row.group), columns));
      const std::string why = negative_self_text(recording, table.groups, row);
      if (!why.empty())
        out.add(fmt::format("{:13}self: {}\n", "", fitted(shortened(why, kLongestOpText), columns - 19)));
    }
    if (order.size() > rows)
      out.print("  ({} more; see -n)\n", count_text(static_cast<int64_t>(order.size() - rows)));
  }
  if (table.devices_left_out > 0)
    out.print("\n  {} further devices were left out.\n", count_text(table.devices_left_out));
  return {};
}

[[nodiscard]] Status write_profiler(const model::Recording& recording, const ProfilerTable& table,
                                    OpSort sort, size_t rows, size_t columns, TextOut& out) {
  Column<int32_t> order(recording.budget);
  if (!sorted_rows(recording, table, sort, order))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to sort the rows");
  out.add("\n  As PyTorch's own table counts: records of all threads, net, all devices together.\n\n");
  const Heads heads = heads_of([](Members& m) { describe_numbers(m, Members::sample<ProfilerRow>()); });
  std::string head = fmt::format("  {:>10}  {:>12}", heads.at("cpu"), heads.at("self_cpu"));
  if (table.shows_devices)
    head += fmt::format("  {:>10}  {:>15}", heads.at("device"), heads.at("self_device"));
  out.add(fmt::format("{} {:>8}  name\n", head, "calls"));
  for (size_t i = 0; i < std::min(order.size(), rows) && !out.failed(); ++i) {
    const ProfilerRow& row = table.rows[order[i]];
    const auto text = [](int64_t bytes) { return profiler_size_text(bytes); };
    std::string numbers = fmt::format("  {:>10}  {:>12}", text(row.cpu), text(row.self_cpu));
    if (table.shows_devices)
      numbers += fmt::format("  {:>10}  {:>15}", text(row.device), text(row.self_device));
    numbers += fmt::format(" {:>8}", count_text(row.calls));
    std::string name = row_name(recording, row);
    if (!row.shapes.is_none()) name += "  " + std::string(recording.strings.view(row.shapes));
    out.add(line_of(numbers, name, columns));
  }
  if (order.size() > rows)
    out.print("  ({} more; see -n)\n", count_text(static_cast<int64_t>(order.size() - rows)));
  return {};
}

void write_beginning(TextOut& out, std::string_view file, const model::Recording& recording) {
  out.print("{}\n  {}, {}\n", printable(file), recording.format, exact_size_text(recording.input_bytes));
}

}  // namespace

Status to_text(TextOut& out, const model::Recording& recording, const OpTable& table, OpSort sort,
               std::string_view file, std::string_view device, size_t rows, size_t columns) {
  write_beginning(out, file, recording);
  if (Status written = write_ops(recording, table, sort, rows, columns, out); !written) return written;
  if (!device.empty() && table.devices.empty())
    out.print("\n  There is no device {} in this file.\n", printable(device));
  noticed_reading_to_text(out, analysis::findings(noticed(recording, table)));
  return {};
}

Status to_text(TextOut& out, const model::Recording& recording, const ProfilerTable& table, OpSort sort,
               std::string_view file, size_t rows, size_t columns) {
  write_beginning(out, file, recording);
  if (Status written = write_profiler(recording, table, sort, rows, columns, out); !written) return written;
  noticed_reading_to_text(out, analysis::findings(recording.diagnostics));
  return {};
}

}  // namespace gpustrata::answers
