#include "engine/answers/live/top.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/stacks/frame_filter.h"
#include "engine/answers/common/moment.h"
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

void stack_to_json(JsonWriter& json, const model::Recording& recording, StackId stack) {
  json.key("stack");
  if (stack.is_none()) {
    json.null();
    return;
  }
  const ShownLines shown = shown_lines(recording, stack, analysis::kMostInList, kListBytes);
  json.begin_array();
  for (const std::string& line : shown.lines) json.value(line);
  json.end_array();
  if (shown.left_out > 0) json.member("lines_left_out", shown.left_out);
}

void group_to_json(JsonWriter& json, const model::Recording& recording, const TopGroup& group, By by) {
  if (by == By::stack || by == By::shown) return stack_to_json(json, recording, group.stack);
  const bool known = group.who.kind != Who::Kind::nothing;
  const auto text = [&](std::string_view key, std::string_view what, bool there) {
    json.key(key);
    if (there) {
      json.value(utf8::cut(what, analysis::kLongestName));
    } else {
      json.null();
    }
  };
  if (by != By::file) text("function", function_text(group.who), known);
  text("file", recorded_file(recording, group.who), known && (by == By::file || group.who.is_frame()));
  if (by == By::line)
    json.member("line", group.who.is_frame() ? std::optional(line_of(recording, group.who)) : std::nullopt);
}

namespace {

void device_to_json(JsonWriter& json, const model::Recording& recording, const model::Part& part,
                    const Top& top) {
  json.begin_object();
  if (!part.name.empty()) json.member("snapshot", part.name);
  json.member("device", top.device);
  json.member("event", top.event);
  json.member("requested_bytes", top.bytes);
  json.member("blocks", top.blocks);
  json.member("groups", top.all_groups);
  json.key("rows");
  json.begin_array();
  for (const TopGroup& group : top.groups) {
    json.begin_object();
    json.member("bytes", group.bytes);
    json.member("blocks", group.blocks);
    json.member("share",
                top.bytes > 0 ? static_cast<double>(group.bytes) / static_cast<double>(top.bytes) : 0.0);
    group_to_json(json, recording, group, top.by);
    json.end_object();
    if (json.refused()) break;
  }
  json.end_array();
  json.key("other");
  json.begin_object();
  json.member("bytes", top.other_bytes);
  json.member("blocks", top.other_blocks);
  json.end_object();
  json.end_object();
}

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

void to_json(JsonWriter& json, const TopAnswer& answer) {
  json.begin_object();
  json.member("file", answer.file);
  json.member("format", answer.recording.format);
  json.member("at", answer.at);
  if (!answer.filter.empty()) json.member("filter", answer.filter);
  if (answer.attached) {
    json.key("attached");
    to_json(json, *answer.attached);
  }
  json.key("tops");
  json.begin_array();
  for (const analysis::DeviceTop& one : answer.devices) {
    if (one.top) device_to_json(json, answer.recording, *one.part, *one.top);
  }
  json.end_array();
  json.end_object();
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
