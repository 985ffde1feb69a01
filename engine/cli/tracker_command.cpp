#include "engine/cli/tracker_command.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/operator_compare.h"
#include "engine/analysis/summary.h"
#include "engine/answers/operator_memory.h"
#include "engine/answers/summary.h"
#include "engine/base/units.h"
#include "engine/cli/finding_lines.h"
#include "engine/cli/fitted.h"
#include "engine/cli/label_rows.h"
#include "engine/cli/one_file.h"
#include "engine/cli/printable.h"

namespace memstrata::cli {

namespace {

using analysis::OperatorMemory;
using analysis::OperatorRun;

constexpr size_t kMostModules = 20;  // in words; --json has all

[[nodiscard]] Outcome<const model::Part*> operators_of(const model::Recording& recording,
                                                       const std::string& file) {
  if (const model::Part* part = analysis::find_operators(recording)) return part;
  return failure(name_of(ErrorCode::unsupported), file,
                 "This file has no samples by operator. MemoryTracker of torch.distributed writes them with "
                 "save_stats().");
}

[[nodiscard]] std::string name_in(const model::Recording& recording, StringId name, size_t columns) {
  return fitted(shortened(recording.strings.view(name), 4 * columns), columns);
}

[[nodiscard]] std::string signed_size(int64_t bytes) { return (bytes > 0 ? "+" : "") + size_text(bytes); }

void write_head(std::string& out, const model::Recording& recording, const OperatorMemory& memory,
                size_t columns) {
  const auto after = [](const analysis::OperatorLevel& level) {
    return fmt::format("after op {}", count_text(level.op));
  };
  LabelRows rows;
  rows.text("operators", count_text(memory.ops));
  rows.text("retries", memory.retries ? fmt::format("{} allocations since the process began",
                                                    count_text(*memory.retries))
                                      : "not recorded");
  for (const analysis::OperatorMark& mark : memory.marks)
    rows.text(shortened(recording.strings.view(mark.name), 30), fmt::format("op {}", count_text(mark.op)));
  if (memory.peak) {
    constexpr size_t kBeside = 24;  // columns in front of a text
    rows.size("allocated peak", memory.peak->bytes, after(*memory.peak));
    rows.text("  reached by",
              name_in(recording, memory.peak->name, columns > 2 * kBeside ? columns - kBeside : kBeside));
  }
  if (memory.active_peak) rows.size("active peak", memory.active_peak->bytes, after(*memory.active_peak));
  if (memory.reserved_peak)
    rows.size("reserved peak", memory.reserved_peak->bytes, after(*memory.reserved_peak));
  if (memory.unused && memory.unused_of_reserved > 0) {
    rows.size("most unused", memory.unused->bytes,
              fmt::format("reserved, not allocated: {:.1f}% {}",
                          100.0 * static_cast<double>(memory.unused->bytes) /
                              static_cast<double>(memory.unused_of_reserved),
                          after(*memory.unused)));
  }
  for (const analysis::OperatorPhase& phase : memory.phases) {
    rows.size(phase.name, phase.bytes,
              fmt::format("ops {} to {}; at most {}", count_text(phase.first_op), count_text(phase.last_op),
                          size_text(phase.peak->bytes)));
  }
  rows.write(out, columns);
}

void write_lists(TextOut& out, const model::Recording& recording, const OperatorMemory& memory,
                 size_t columns) {
  constexpr size_t kBeside = 26;  // columns in front of a name
  const size_t room = columns > kBeside + 20 ? columns - kBeside : 20;
  if (!memory.top.empty()) {
    out.print("\n  Most memory generated, by operator\n\n  {:>10}  {:>9}  operator\n", "op", "memory");
    for (const analysis::OperatorDelta& delta : memory.top) {
      out.print("  {:>10}  {:>9}  {}\n", count_text(delta.op), signed_size(delta.bytes),
                name_in(recording, delta.name, room));
      if (out.failed()) return;
    }
  }
  if (memory.modules.empty()) return;
  out.print("\n  By module\n\n  {:>10}  {:>9}  module\n", "operators", "memory");
  size_t shown = 0;
  for (const analysis::ModuleSum& sum : memory.modules) {
    if (shown++ == kMostModules) {
      out.print("  ({} more; --json has all)\n",
                count_text(static_cast<int64_t>(memory.modules.size() - kMostModules)));
      return;
    }
    out.print("  {:>10}  {:>9}  {}\n", count_text(sum.ops), signed_size(sum.bytes),
              sum.module.empty() ? "(the model itself, or before it)"
                                 : fitted(shortened(sum.module, 4 * room), room));
  }
}

[[nodiscard]] Outcome<void> answer_one(const TrackerOptions& options, const model::Recording& recording,
                                       TextOut& out, const Console& console) {
  const auto part = operators_of(recording, options.file);
  if (!part) return tl::unexpected(part.error());
  const auto memory = analysis::operator_memory(recording, **part, options.top);
  if (!memory) return failure(memory.error(), options.file);
  const auto findings = analysis::findings(recording.diagnostics);
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.member("file", std::string_view(options.file));
    json.member("format", std::string_view(recording.format));
    if (const Status written = answers::to_json(json, recording, *memory); !written)
      return failure(written.error(), options.file);
    json.key("diagnostics");
    answers::findings_to_json(json, findings);
    json.end_object();
    out.end_line(std::move(json));
    return {};
  }
  std::string head = fmt::format("{}\n\n", printable(options.file));
  write_head(head, recording, *memory, console.columns);
  out.add(head);
  write_lists(out, recording, *memory, console.columns);
  if (!findings.empty()) out.add("\n  Noticed while reading\n" + finding_lines(findings, Remarks::shown));
  return {};
}

void write_comparison(TextOut& out, const analysis::OperatorComparison& comparison, size_t columns) {
  const auto& [ops, peak] = std::tie(comparison.ops, comparison.peak);
  out.print("  Operators: {} before, {} after; {} are the same calls, {} only before, {} only after\n",
            count_text(ops.before), count_text(ops.after), count_text(comparison.matched),
            count_text(comparison.only_before), count_text(comparison.only_after));
  out.print("  Peak: {} before, {} after, {}\n", size_text(peak.before), size_text(peak.after),
            signed_size(peak.growth()));
  constexpr size_t kBeside = 37;
  const size_t room = columns > kBeside + 20 ? columns - kBeside : 20;
  if (comparison.changes.empty()) {
    out.add("\n  Every call generates what it did.\n");
    return;
  }
  out.print("\n  {:>9}  {:>9}  {:>9}  call of an operator\n", "change", "before", "after");
  for (const analysis::OperatorChange& change : comparison.changes) {
    const auto side = [](int64_t op, int64_t bytes) { return op < 0 ? std::string("-") : size_text(bytes); };
    const std::string name =
        fmt::format("{}{}{} #{}", shortened(change.name.module, 200), change.name.module.empty() ? "" : " ",
                    shortened(change.name.op, 200), change.ordinal);
    out.print("  {:>9}  {:>9}  {:>9}  {}\n", signed_size(change.bytes.growth()),
              side(change.op_before, change.bytes.before), side(change.op_after, change.bytes.after),
              fitted(name, room));
    if (out.failed()) return;
  }
  if (const auto more = comparison.changed - static_cast<int64_t>(comparison.changes.size()); more > 0)
    out.print("  ({} more; see --top)\n", count_text(more));
}

[[nodiscard]] Outcome<void> answer_two(const TrackerOptions& options, const model::Recording& before,
                                       const model::Recording& after, TextOut& out, const Console& console) {
  const auto first = operators_of(before, options.file);
  if (!first) return tl::unexpected(first.error());
  const auto second = operators_of(after, options.other);
  if (!second) return tl::unexpected(second.error());
  const auto comparison =
      analysis::compare_operators(OperatorRun{before, **first}, OperatorRun{after, **second}, options.top);
  if (!comparison) return failure(comparison.error(), options.other);
  if (!options.json) {
    out.print("{}\n{}\n\n", printable(options.file), printable(options.other));
    write_comparison(out, *comparison, console.columns);
    return {};
  }
  JsonWriter json;
  json.begin_object();
  json.member("before", std::string_view(options.file));
  json.member("after", std::string_view(options.other));
  if (const Status written = answers::to_json(json, *comparison, after.budget); !written)
    return failure(written.error(), options.other);
  for (const auto& [name, recording] :
       {std::pair("diagnostics_before", &before), std::pair("diagnostics_after", &after)}) {
    json.key(name);
    answers::findings_to_json(json, analysis::findings(recording->diagnostics));
  }
  json.end_object();
  out.end_line(std::move(json));
  return {};
}

}  // namespace

int run_tracker(const TrackerOptions& options, const Console& console) {
  FileChoice file;
  file.file = options.file;
  file.json = options.json;
  if (options.other.empty()) {
    return answer_about(file, console, [&](const model::Recording& recording, TextOut& out) {
      return answer_one(options, recording, out, console);
    });
  }
  FileChoice other = file;
  other.file = options.other;
  return answer_about(file, other, console,
                      [&](const model::Recording& before, const model::Recording& after, TextOut& out) {
                        return answer_two(options, before, after, out, console);
                      });
}

}  // namespace memstrata::cli
