#include <fmt/core.h>

#include <algorithm>

#include "engine/answers/common/moment.h"
#include "engine/answers/compare/compare.h"
#include "engine/answers/live/group_lines.h"
#include "engine/answers/text/fitted.h"
#include "engine/base/saturating.h"
#include "engine/base/units.h"

namespace gpustrata::answers {

using analysis::BeforeAfter;
using analysis::DeviceComparison;

namespace {

[[nodiscard]] std::string signed_size(int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + size_text(bytes < 0 ? saturated_difference(0, bytes) : bytes);
}
[[nodiscard]] std::string signed_count(int64_t count) {
  return (count < 0 ? "-" : "+") + count_text(count < 0 ? saturated_difference(0, count) : count);
}

// "  +512.0 MiB    1.0 GiB    1.5 GiB      +12  forward  …/model.py:10"
void write_table(TextOut& out, const DeviceComparison& comparison, size_t columns) {
  const analysis::Comparison& groups = comparison.groups;
  if (groups.changed == 0) {
    out.add("  Nothing changed: the same stacks hold the same bytes.\n");
    return;
  }
  const auto numbers_of = [](const BeforeAfter& bytes, const BeforeAfter& blocks) {
    return fmt::format("  {:>10}  {:>9}  {:>9}  {:>7}", signed_size(bytes.growth()), size_text(bytes.before),
                       size_text(bytes.after), signed_count(blocks.growth()));
  };
  out.print("  {:>10}  {:>9}  {:>9}  {:>7}  {}\n", "growth", "before", "after", "blocks",
            heading_of(groups.by));
  for (const analysis::ComparedPart& row : groups.rows) {
    const NamedBy by = named_by(comparison, row);
    const std::string numbers = numbers_of(row.bytes, row.blocks);
    out.add(table_row(numbers,
                      lines_of_group(by.recording, by.group, groups.by, columns_beside(numbers, columns))));
    if (out.failed()) return;
  }
  const int64_t more = groups.changed - static_cast<int64_t>(groups.rows.size());
  if (more > 0) {
    out.add(table_row(numbers_of(groups.other_bytes, groups.other_blocks),
                      {fmt::format("({} more that changed; see -n)", count_text(more))}));
  }
  if (groups.unchanged > 0) out.print("  ({} unchanged)\n", count_text(groups.unchanged));
}

void write_segments(TextOut& out, const analysis::ComparedSegments& segments, size_t rows) {
  const auto count = [](size_t number) { return count_text(static_cast<int64_t>(number)); };
  out.print("\n  Segments: {} in both ({}), {} only before ({}), {} only after ({})\n",
            count_text(segments.in_both), size_text(segments.in_both_bytes),
            count(segments.only_before.size()), size_text(segments.only_before_bytes),
            count(segments.only_after.size()), size_text(segments.only_after_bytes));
  const auto list = [&](std::string_view where, const Column<replay::SegmentAt>& all) {
    for (size_t i = 0; i < std::min(rows, all.size()); ++i)
      out.print("    {:<11}  {:#x}  {:>10}\n", where, all[i].address, size_text(all[i].size));
    if (all.size() > rows) out.print("    {:<11}  ... {} more\n", where, count(all.size() - rows));
  };
  list("only before", segments.only_before);
  list("only after", segments.only_after);
}

}  // namespace

void to_text(TextOut& out, const DeviceComparison& comparison, size_t columns, size_t rows) {
  const analysis::Comparison& groups = comparison.groups;
  const auto side = [&](std::string_view name, const analysis::ComparedDevice& one, int64_t bytes,
                        int64_t blocks) {
    out.print("  {:<7} {} {}\n{:10}{} in {}\n", name, device_text(one.top.device),
              moment_text(one.top.event, one.moments), "", exact_size_text(bytes), counted(blocks, "block"));
  };
  out.add("\n");
  side("Before:", comparison.before, groups.bytes.before, groups.blocks.before);
  side("After:", comparison.after, groups.bytes.after, groups.blocks.after);
  out.print("  Growth: {}, {} blocks; reserved {}\n", signed_size(groups.bytes.growth()),
            signed_count(groups.blocks.growth()),
            signed_size(saturated_difference(comparison.after.memory.totals().reserved,
                                             comparison.before.memory.totals().reserved)));
  for (const analysis::Obstacle& obstacle : comparison.obstacles)
    out.print("  Note:   {}\n", wrapped(words_of(to_text(obstacle)), columns, 10));
  out.add("\n");
  write_table(out, comparison, columns);
  if (comparison.segments) write_segments(out, *comparison.segments, rows);
}

}  // namespace gpustrata::answers
