#include "engine/cli/ops_command.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/summary.h"
#include "engine/base/units.h"
#include "engine/cli/each_file.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/finding_lines.h"
#include "engine/cli/fitted.h"
#include "engine/cli/printable.h"

namespace memstrata::cli {

namespace {

using analysis::OpDevice;
using analysis::OpRow;
using analysis::OpTable;
using analysis::ProfilerRow;
using analysis::ProfilerTable;

constexpr size_t kLongestText = 4096;
constexpr size_t kSpacious = 104;  // columns from which all numbers are shown
constexpr size_t kWide = 100'000;

[[nodiscard]] size_t columns_of_table(const OpsOptions& options, const Console& console) {
  return options.wide ? kWide : console.columns;
}

// Numbers to the left, the name in what is left of the line.
[[nodiscard]] std::string line_of(const std::string& numbers, const std::string& name, size_t columns) {
  constexpr size_t kLeast = 16;
  const size_t room = columns - std::min(columns - kLeast, numbers.size() + 2);
  return numbers + "  " + fitted(shortened(name, kLongestText), room) + "\n";
}

[[nodiscard]] std::string sizes_line(std::initializer_list<int64_t> sizes) {
  std::string line = " ";
  for (const int64_t bytes : sizes) line += fmt::format(" {:>10}", size_text(bytes));
  return line;
}

[[nodiscard]] std::string heading(bool spacious) {
  std::string line = " ";
  for (const std::string_view word : {"at peak", "self", "gross", "peak"})
    line += fmt::format(" {:>10}", word);
  if (spacious) line += fmt::format(" {:>10} {:>10}", "net", "how full");
  return line + fmt::format(" {:>8}  op\n", "calls");
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
        "    Records without addresses: what is alive at the peak is not known, its column lacks them.\n");
}

[[nodiscard]] Outcome<void> write_ops(const std::string& file, const model::Recording& recording,
                                      const OpTable& table, const OpsOptions& options, size_t columns,
                                      TextOut& out) {
  Column<int32_t> order(recording.budget);
  for (const OpDevice& device : table.devices) {
    write_device(out, device);
    if (!answers::sorted_ops(recording, table, device, options.sort, order))
      return failure(name_of(ErrorCode::limit_exceeded), file, "not enough memory to sort the ops");
    if (order.empty()) {
      out.add("    No op holds a record.\n");
      continue;
    }
    const bool spacious = columns >= kSpacious;
    out.add("\n" + heading(spacious));
    for (size_t i = 0; i < std::min(order.size(), options.rows) && !out.failed(); ++i) {
      const OpRow& row = device.rows[order[i]];
      std::string numbers = sizes_line({row.at_peak, row.self, row.gross, row.peak});
      if (spacious) numbers += fmt::format(" {:>10} {:>10}", size_text(row.net), size_text(row.abs_peak));
      numbers += fmt::format(" {:>8}", count_text(row.calls));
      out.add(line_of(numbers, answers::op_text(recording, table.groups, row.group), columns));
      const std::string why = answers::negative_self_text(recording, table.groups, row);
      if (!why.empty())
        out.add(fmt::format("{:13}self: {}\n", "", fitted(shortened(why, kLongestText), columns - 19)));
    }
    if (order.size() > options.rows)
      out.print("  ({} more; see -n)\n", count_text(static_cast<int64_t>(order.size() - options.rows)));
  }
  if (table.devices_left_out > 0)
    out.print("\n  {} further devices were left out.\n", count_text(table.devices_left_out));
  return {};
}

[[nodiscard]] Outcome<void> write_profiler(const std::string& file, const model::Recording& recording,
                                           const ProfilerTable& table, const OpsOptions& options,
                                           size_t columns, TextOut& out) {
  Column<int32_t> order(recording.budget);
  if (!answers::sorted_rows(recording, table, options.sort, order))
    return failure(name_of(ErrorCode::limit_exceeded), file, "not enough memory to sort the rows");
  out.add("\n  As PyTorch's own table counts: records of all threads, net, all devices together.\n\n");
  std::string head = fmt::format("  {:>10}  {:>12}", "CPU Mem", "Self CPU Mem");
  if (table.shows_devices) head += fmt::format("  {:>10}  {:>12}", "Device Mem", "Self Dev Mem");
  out.add(fmt::format("{} {:>8}  name\n", head, "calls"));
  for (size_t i = 0; i < std::min(order.size(), options.rows) && !out.failed(); ++i) {
    const ProfilerRow& row = table.rows[order[i]];
    const auto text = [](int64_t bytes) { return answers::profiler_size_text(bytes); };
    std::string numbers = fmt::format("  {:>10}  {:>12}", text(row.cpu), text(row.self_cpu));
    if (table.shows_devices)
      numbers += fmt::format("  {:>10}  {:>12}", text(row.device), text(row.self_device));
    numbers += fmt::format(" {:>8}", count_text(row.calls));
    std::string name = answers::row_name(recording, row);
    if (!row.shapes.is_none()) name += "  " + std::string(recording.strings.view(row.shapes));
    out.add(line_of(numbers, name, columns));
  }
  if (order.size() > options.rows)
    out.print("  ({} more; see -n)\n", count_text(static_cast<int64_t>(order.size() - options.rows)));
  return {};
}

void write_beginning(TextOut& out, const std::string& file, const model::Recording& recording) {
  out.print("{}\n  {}, {}\n", printable(file), recording.format, exact_size_text(recording.input_bytes));
}

void write_findings(TextOut& out, const model::Recording& recording) {
  const std::string lines = finding_lines(analysis::findings(recording.diagnostics), Remarks::shown);
  if (!lines.empty()) out.add("\n  Noticed while reading\n" + lines);
}

[[nodiscard]] Outcome<void> answer_as_profiler(const std::string& file, const model::Recording& recording,
                                               const OpsOptions& options, size_t columns, TextOut& out) {
  const bool by_shapes = options.by == analysis::OpBy::shape;
  const auto table = analysis::find_profiler_table(recording, by_shapes);
  if (!table) return failure(table.error(), file);
  if (options.json) {
    JsonWriter json;
    if (const Status written = answers::to_json(json, recording, *table, by_shapes, options.sort, file);
        !written)
      return failure(written.error(), file);
    out.end_line(std::move(json));
    return {};
  }
  write_beginning(out, file, recording);
  auto written = write_profiler(file, recording, *table, options, columns, out);
  write_findings(out, recording);
  return written;
}

[[nodiscard]] Outcome<bool> answer_by_ops(const std::string& file, const model::Recording& recording,
                                          const OpsOptions& options, size_t columns, TextOut& out) {
  const auto scope = options.mode == OpsMode::span ? analysis::OpScope::process : analysis::OpScope::thread;
  const auto table = analysis::find_op_memory(recording, options.by, scope, options.device);
  if (!table) return failure(table.error(), file);
  const bool found = options.device.empty() || !table->devices.empty();
  if (options.json) {
    JsonWriter json;
    if (const Status written = answers::to_json(json, recording, *table, options.sort, file); !written)
      return failure(written.error(), file);
    out.end_line(std::move(json));
    return found;
  }
  write_beginning(out, file, recording);
  if (auto written = write_ops(file, recording, *table, options, columns, out); !written)
    return tl::unexpected(written.error());
  if (!found) out.print("\n  There is no device {} in this file.\n", printable(options.device));
  write_findings(out, recording);
  return found;
}

}  // namespace

int run_ops(const OpsOptions& options, const Console& console) {
  bool all_found = true;
  const size_t columns = columns_of_table(options, console);
  const int exit_code = for_each_file(
      options.files, options.json, console,
      [&](const std::string& file, const model::Recording& recording, TextOut& out) -> Outcome<void> {
        const bool is_trace =
            std::any_of(recording.parts.begin(), recording.parts.end(),
                        [](const model::Part& part) { return part.kind == model::PartKind::trace; });
        if (!is_trace)
          return failure(
              name_of(ErrorCode::unsupported), file,
              "This is no trace of a profiler, so it names no ops; `memstrata top` says who holds memory.");
        if (options.mode == OpsMode::pytorch)
          return answer_as_profiler(file, recording, options, columns, out);
        const auto found = answer_by_ops(file, recording, options, columns, out);
        if (!found) return tl::unexpected(found.error());
        all_found = all_found && *found;
        return {};
      });
  return exit_code == kSuccess && !all_found ? kWrongUsage : exit_code;
}

}  // namespace memstrata::cli
