#include "engine/answers/calls/call_tree.h"

#include <algorithm>
#include <string>

#include "engine/analysis/stacks/own_frame.h"
#include "engine/answers/stacks/frame_label.h"
#include "engine/answers/text/bounded.h"

namespace gpustrata::answers {

using analysis::CallTree;
using analysis::FrameKey;

namespace {

[[nodiscard]] std::string_view name_of(analysis::Origin origin) {
  switch (origin) {
    case analysis::Origin::own:
      return "own";
    case analysis::Origin::package:
      return "package";
    case analysis::Origin::library:
      return "library";
    case analysis::Origin::interpreter:
      break;
  }
  return "interpreter";
}

[[nodiscard]] std::string_view unit_of(const CallTree& tree) {
  switch (tree.asked.weights.by) {
    case analysis::WeightBy::bytes:
      return "bytes";
    case analysis::WeightBy::blocks:
      return "blocks";
    case analysis::WeightBy::time:
      break;
  }
  return tree.in_time ? "byte_us" : "byte_events";
}

void frame_members(JsonWriter& json, const model::Recording& recording, FrameKey by, int32_t key) {
  json.member("key", key);
  if (key < 0) {
    json.member("label", "no stack");
    json.member("name", "");
    json.member("file", "");
    json.member("line", 0);
    json.key("from");
    json.null();
  } else {
    const FrameId id{key};
    const trace::Frame& frame = recording.frames[id];
    json.member("label", frame_label(recording, by, id));
    json.member("name", by == FrameKey::file ? "" : in_list(recording.strings.view(frame.name)));
    json.member("file", in_list(recording.strings.view(frame.filename)));
    json.member("line", by == FrameKey::line ? std::max(frame.line, 0) : 0);
    json.member("from", name_of(analysis::origin_of(recording, id)));
  }
  const std::string filter = key < 0 ? no_stack_filter() : frame_filter("call", recording, by, FrameId{key});
  json.key("filter");
  if (filter.empty()) {
    json.null();
  } else {
    json.value(filter);
  }
}

void sum_to_json(JsonWriter& json, std::string_view name, const analysis::RangeTotals::Sum& sum) {
  json.key(name);
  json.begin_object();
  json.member("bytes", sum.bytes);
  json.member("blocks", sum.blocks);
  json.end_object();
}

}  // namespace

void to_json(JsonWriter& json, const model::Recording& recording, const CallTree& tree,
             const analysis::TreeLayout& layout, const TreeSearch& search, double rest,
             Column<int32_t>& frame_of_rect) {
  const CallTree::Node& root = tree.root();
  json.begin_object();
  json.member("unit", unit_of(tree));
  json.member("total", root.width);
  json.member("grew", root.grew);
  json.member("lit", root.lit);
  json.member("blocks", root.blocks);
  json.member("rest", rest);
  json.key("found");
  if (search.keys == nullptr) {
    json.null();
  } else {
    json.begin_object();
    json.member("weight", search.found.width);
    json.member("grew", search.found.grew);
    json.member("frames", search.found.frames);
    json.end_object();
  }
  json.member("steps", layout.steps);
  json.member("rows", layout.rows);
  json.member("cut", layout.cut);
  json.key("frames");
  json.begin_array();
  int32_t written = 0;
  Column<int32_t> index(recording.budget);  // by key + 1
  const bool fits =
      index.resize(recording.frames.size() + 1, -1) && frame_of_rect.resize(layout.rects.size(), -1);
  for (size_t i = 0; i < layout.rects.size() && fits; ++i) {
    if (layout.rects[i].node == 0) continue;
    const int32_t key = tree.nodes[layout.rects[i].node].key;
    if (index[key + 1] < 0) {
      index[key + 1] = written++;
      json.begin_object();
      frame_members(json, recording, tree.asked.by, key);
      json.end_object();
    }
    frame_of_rect[i] = index[key + 1];
  }
  json.end_array();
  json.key("rects");
  json.begin_object();
  json.end_object();
  json.end_object();
}

void to_json(JsonWriter& json, const model::Recording& recording, const CallTree& tree, double rest,
             int64_t count, std::span<const analysis::FrameRow> rows) {
  json.begin_object();
  json.member("unit", unit_of(tree));
  json.member("total", tree.root().width);
  json.member("grew", tree.root().grew);
  json.member("rest", rest);
  json.member("count", count);
  json.key("rows");
  json.begin_array();
  for (const analysis::FrameRow& row : rows) {
    json.begin_object();
    frame_members(json, recording, tree.asked.by, row.key);
    json.member("weight", row.total);
    json.member("self", row.self);
    json.member("grew", row.total_grew);
    json.member("self_grew", row.self_grew);
    json.member("blocks", row.blocks);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void to_json(JsonWriter& json, const analysis::RangeTotals& totals) {
  json.begin_object();
  json.member("from", totals.from);
  json.member("to", totals.to);
  json.member("level_before", totals.level_before);
  json.member("level_after", totals.level_after);
  json.key("peak");
  json.begin_object();
  json.member("event", totals.peak_event);
  json.member("bytes", totals.peak);
  json.end_object();
  sum_to_json(json, "allocated", totals.allocated);
  sum_to_json(json, "kept", totals.kept);
  sum_to_json(json, "passed", totals.passed);
  sum_to_json(json, "freed", totals.freed);
  json.end_object();
}

}  // namespace gpustrata::answers
