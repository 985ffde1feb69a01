#include "engine/answers/top.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/analysis/frame_filter.h"
#include "engine/answers/bounded.h"
#include "engine/answers/charged_json.h"
#include "engine/answers/who.h"
#include "engine/base/utf8.h"

namespace memstrata::answers {

using analysis::FrameLine;
using analysis::Top;
using analysis::TopBy;
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

void group_to_json(JsonWriter& json, const model::Recording& recording, const TopGroup& group, TopBy by) {
  if (by == TopBy::stack) {
    json.key("stack");
    if (group.stack.is_none()) {
      json.null();
      return;
    }
    const ShownLines shown = shown_lines(recording, group.stack, analysis::kMostInList, kListBytes);
    json.begin_array();
    for (const std::string& line : shown.lines) json.value(line);
    json.end_array();
    if (shown.left_out > 0) json.member("lines_left_out", shown.left_out);
    return;
  }
  const bool known = group.who.kind != Who::Kind::nothing;
  const auto text = [&](std::string_view key, std::string_view what, bool there) {
    json.key(key);
    if (there) {
      json.value(utf8::cut(what, analysis::kLongestName));
    } else {
      json.null();
    }
  };
  if (by != TopBy::file) text("function", function_text(group.who), known);
  text("file", recorded_file(recording, group.who), known && (by == TopBy::file || group.who.is_frame()));
  if (by == TopBy::line)
    json.member("line", group.who.is_frame() ? std::optional(line_of(recording, group.who)) : std::nullopt);
}

Status to_json(JsonWriter& json, const model::Recording& recording, const Top& top) {
  ChargedJson charged(json, recording.budget);
  json.member("device", top.device);
  json.member("event", top.event);
  json.member("requested_bytes", top.bytes);
  json.member("blocks", top.count);
  json.member("groups", top.all_groups);
  json.key("rows");
  json.begin_array();
  for (const TopGroup& group : top.groups) {
    json.begin_object();
    json.member("bytes", group.bytes);
    json.member("blocks", group.count);
    json.member("share",
                top.bytes > 0 ? static_cast<double>(group.bytes) / static_cast<double>(top.bytes) : 0.0);
    group_to_json(json, recording, group, top.by);
    json.end_object();
    if (Status room = charged.check(); !room) return room;
  }
  json.end_array();
  json.key("other");
  json.begin_object();
  json.member("bytes", top.other_bytes);
  json.member("blocks", top.other_count);
  json.end_object();
  return {};
}

}  // namespace memstrata::answers
