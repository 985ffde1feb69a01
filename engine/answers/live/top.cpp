#include "engine/answers/live/top.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/common/parts.h"
#include "engine/answers/live/group_lines.h"
#include "engine/answers/ops/attached_ops.h"
#include "engine/answers/stacks/who.h"
#include "engine/answers/text/bounded.h"
#include "engine/answers/text/printable.h"
#include "engine/base/units.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

using analysis::By;
using analysis::FrameLine;
using analysis::Top;
using analysis::TopGroup;
using analysis::Who;

ShownLines shown_lines(const model::Recording& recording, StackId stack, size_t most_lines,
                       size_t most_bytes) {
  ShownLines shown;
  const std::vector<FrameLine> all = analysis::frame_lines(recording, stack);
  const bool all_hidden =
      std::all_of(all.begin(), all.end(), [](const FrameLine& line) { return line.hidden; });
  size_t bytes = 0;
  for (const FrameLine& line : all) {
    if (line.hidden && !all_hidden) continue;
    if (shown.lines.size() >= most_lines || bytes >= most_bytes) {
      ++shown.left_out;
      continue;
    }
    std::string text = analysis::frame_text(recording, line.frame);
    if (line.repeats > 1) text += fmt::format(" (repeats {} times)", line.repeats);
    bytes += text.size();
    shown.lines.push_back(std::move(text));
  }
  return shown;
}

void describe_stack(Members& m, const model::Recording& recording, StackId stack) {
  const ShownLines shown = m.found([&] {
    return stack.is_none() ? ShownLines() : shown_lines(recording, stack, analysis::kMostInList, kListBytes);
  });
  m.texts({"stack", "Lines \"file:line:name\", innermost first; null = no stack."},
          [&] { return stack.is_none() ? std::nullopt : std::optional(std::span(shown.lines)); });
  if (const auto cut = m.when(shown.left_out > 0)) m.count("lines_left_out", shown.left_out);
}

void describe_who_and_stack(Members& m, const model::Recording& recording, StackId stack) {
  m.text("who", [&] { return who_or_none(recording, analysis::who_of(recording, stack)); });
  describe_stack(m, recording, stack);
}

void describe_group(Members& m, const model::Recording& recording, const TopGroup& group, By by) {
  if (const auto there = m.when(by == By::stack || by == By::shown)) {
    describe_stack(m, recording, group.stack);
    if (!m.is_schema()) return;
  }
  const bool known = group.who.kind != Who::Kind::nothing;
  const auto name = [](std::string_view text, bool there) {
    return there ? std::optional(utf8::cut(text, analysis::kLongestName)) : std::nullopt;
  };
  if (const auto there = m.when(by != By::file))
    m.text("function", [&] { return name(function_text(group.who), known); });
  if (const auto there = m.when(true)) {
    m.text("file", [&] {
      return name(recorded_file(recording, group.who), known && (by == By::file || group.who.is_frame()));
    });
  }
  if (const auto there = m.when(by == By::line)) {
    m.count("line", [&] {
      return group.who.is_frame() ? std::optional(line_of(recording, group.who)) : std::nullopt;
    });
  }
}

namespace {

// "  512.0 MiB   41.2%       12  forward  …/model/attention.py:120"
void write_table(TextOut& out, const model::Recording& recording, const Top& top, size_t columns) {
  out.print("  {:>9}  {:>6}  {:>7}  {}\n", "requested", "share", "blocks", heading_of(top.by));
  const auto numbers_of = [&](int64_t bytes, int64_t count) {
    const double share =
        top.bytes > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(top.bytes) : 0;
    return fmt::format("  {:>9}  {:>5.1f}%  {:>7}", size_text(bytes), share, count_text(count));
  };
  for (const TopGroup& group : top.groups) {
    const std::string numbers = numbers_of(group.bytes, group.blocks);
    out.add(table_row(numbers, lines_of_group(recording, group, top.by, columns_beside(numbers, columns))));
    if (out.failed()) return;
  }
  if (top.other_blocks == 0) return;
  out.add(table_row(numbers_of(top.other_bytes, top.other_blocks),
                    {fmt::format("({} more; see -n)", count_text(top.other_groups()))}));
}

}  // namespace

void describe(Members& m, const TopAnswer& answer) {
  m.line({"top --json", "Who holds what is alive at a moment."});
  m.text("file", answer.file);
  m.text("format", [&] { return answer.recording.format; });
  describe_damage(m, m.found([&] { return answer.recording.diagnostics.incomplete(); }));
  m.text("at", answer.at);
  if (const auto there = m.when(!answer.filter.empty())) m.text("filter", answer.filter);
  if (const auto there = m.when(answer.attached.has_value()))
    m.object("attached",
             [&] { describe(m, m.is_schema() ? Members::sample<replay::AttachedOps>() : *answer.attached); });
  const auto devices = m.found([&] {
    std::vector<const analysis::DeviceTop*> shown;
    for (const analysis::DeviceTop& one : answer.devices) {
      if (one.top) shown.push_back(&one);
    }
    return shown;
  });
  m.list({"tops", "Of devices that have such an event."}, devices, [&](const analysis::DeviceTop* device) {
    const Top& top = m.is_schema() ? Members::sample<Top>() : *device->top;
    const std::string_view part = m.is_schema() ? std::string_view() : device->part->name;
    if (const auto there = m.when(!part.empty())) m.text("snapshot", part);
    m.count("device", top.device);
    m.count({"event", "The state after it; -1 = before the first."}, top.event);
    m.bytes("requested_bytes", top.bytes);
    m.count("blocks", top.blocks);
    m.count({"groups", "Of all."}, top.all_groups);
    m.list({"rows", "The largest."}, top.groups, [&](const TopGroup& group) {
      m.bytes("bytes", group.bytes);
      m.count("blocks", group.blocks);
      m.share("share",
              top.bytes > 0 ? static_cast<double>(group.bytes) / static_cast<double>(top.bytes) : 0.0);
      describe_group(m, answer.recording, group, top.by);
    });
    m.object("other", [&] {
      m.bytes("bytes", top.other_bytes);
      m.count("blocks", top.other_blocks);
    });
  });
}

void to_text(TextOut& out, const TopAnswer& answer, size_t columns) {
  out.print("{}\n", printable(answer.file));
  if (answer.attached) out.print("  {}", to_text(*answer.attached));
  for (const analysis::DeviceTop& one : answer.devices) {
    const std::string& part = one.part->name;
    const std::string name = part.empty() ? "" : fmt::format("Snapshot {}, ", shortened(part, 200));
    if (!one.top) {
      out.print("\n  {}device {} has no event {}: it has {}\n", name, one.device, answer.at,
                count_text(one.moments.event_count));
      continue;
    }
    const std::string filter =
        answer.filter.empty() ? "" : fmt::format(" that {} means", printable(answer.filter));
    out.print("\n  {}{} {} {}\n  {} in {}{}\n\n", name, name.empty() ? "Device" : "device", one.device,
              moment_text(one.top->event, one.moments), exact_size_text(one.top->bytes),
              counted(one.top->blocks, "block"), filter);
    write_table(out, answer.recording, *one.top, columns);
    if (out.failed()) return;
  }
  if (answer.devices.empty() && answer.only_device)
    out.print("\n  There is no device {} in this file.\n", *answer.only_device);
}

}  // namespace gpustrata::answers
