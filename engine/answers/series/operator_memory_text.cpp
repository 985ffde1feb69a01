#include <fmt/core.h>

#include <string>
#include <tuple>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/series/operator_memory.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/label_rows.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

namespace {

using analysis::OperatorMemory;

constexpr size_t kMostModules = 20;  // in words; --json has all

[[nodiscard]] std::string name_in(const model::Recording& recording, StringId name, size_t columns) {
  return fitted(shortened(recording.strings.view(name), 4 * columns), columns);
}

[[nodiscard]] std::string grown_size(int64_t bytes) { return (bytes > 0 ? "+" : "") + size_text(bytes); }

void write_head(TextOut& out, const model::Recording& recording, const OperatorMemory& memory,
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
      out.print("  {:>10}  {:>9}  {}\n", count_text(delta.op), grown_size(delta.bytes),
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
    out.print("  {:>10}  {:>9}  {}\n", count_text(sum.ops), grown_size(sum.bytes),
              sum.module.empty() ? "(the model itself, or before it)"
                                 : fitted(shortened(sum.module, 4 * room), room));
  }
}

void write_comparison(TextOut& out, const analysis::OperatorComparison& comparison, size_t columns) {
  const auto& [ops, peak] = std::tie(comparison.ops, comparison.peak);
  out.print("  Operators: {} before, {} after; {} are the same calls, {} only before, {} only after\n",
            count_text(ops.before), count_text(ops.after), count_text(comparison.matched),
            count_text(comparison.only_before), count_text(comparison.only_after));
  out.print("  Peak: {} before, {} after, {}\n", size_text(peak.before), size_text(peak.after),
            grown_size(peak.growth()));
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
    out.print("  {:>9}  {:>9}  {:>9}  {}\n", grown_size(change.bytes.growth()),
              side(change.op_before, change.bytes.before), side(change.op_after, change.bytes.after),
              fitted(name, room));
    if (out.failed()) return;
  }
  if (const auto more = comparison.changed - static_cast<int64_t>(comparison.changes.size()); more > 0)
    out.print("  ({} more; see --top)\n", count_text(more));
}

}  // namespace

void to_text(TextOut& out, const model::Recording& recording, const OperatorMemory& memory,
             std::string_view file, size_t columns) {
  out.print("{}\n\n", printable(file));
  write_head(out, recording, memory, columns);
  write_lists(out, recording, memory, columns);
  noticed_reading_to_text(out, analysis::findings(recording.diagnostics));
}

void to_text(TextOut& out, const analysis::OperatorComparison& comparison, std::string_view before,
             std::string_view after, size_t columns) {
  out.print("{}\n{}\n\n", printable(before), printable(after));
  write_comparison(out, comparison, columns);
}

}  // namespace gpustrata::answers
