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

constexpr std::string_view kWeightUnits[] = {"bytes", "blocks", "byte_us", "byte_events"};

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

struct CallFrame {
  const model::Recording& recording;
  FrameKey by;
  int32_t key;
};
void describe_frame(Members& m, const model::Recording& recording, FrameKey by, int32_t key) {
  const bool known = !m.is_schema() && key >= 0;
  const FrameId id{key};
  const trace::Frame frame = known ? recording.frames[id] : trace::Frame();
  m.count({"key", "-1 = blocks without a stack."}, key);
  m.text({"label", "`forward model.py:96`, `forward model.py`, `nn/model.py`."},
         [&] { return known ? frame_label(recording, by, id) : std::string("no stack"); });
  m.text({"name", "Empty for a file."}, [&] {
    return known && by != FrameKey::file ? in_list(recording.strings.view(frame.name)) : std::string();
  });
  m.text("file", [&] { return known ? in_list(recording.strings.view(frame.filename)) : std::string(); });
  m.count({"line", "0 = unknown, or a function or file."},
          known && by == FrameKey::line ? std::max(frame.line, 0) : 0);
  m.word("from", [&] { return known ? std::optional(analysis::origin_of(recording, id)) : std::nullopt; });
  m.text({"filter", "The filter that means its blocks; null = it would be too long."},
         [&] { return or_none(known ? frame_filter("call", recording, by, id) : no_stack_filter()); });
}

void describe(Members& m, const CallFrame& frame) {
  m.is({"CallFrame", "A line, a function or a file of the program."});
  describe_frame(m, frame.recording, frame.by, frame.key);
}

void describe_sum(Members& m, Name name, const analysis::RangeTotals::Sum& sum) {
  m.object(name, [&] {
    m.is("RangeSum");
    m.bytes("bytes", sum.bytes);
    m.count("blocks", sum.blocks);
  });
}

void describe_rects(Members& m, const ShownTree& shown) {
  const auto& rects = m.of(shown.layout.rects);
  const auto of_rect = [&](As as, Name name, auto analysis::TreeRect::*number) {
    m.column(as, name, rects, [&](const analysis::TreeRect& rect) { return rect.*number; });
  };
  const auto of_node = [&](Name name, auto CallTree::Node::*number) {
    m.column(As::number, name, rects, [&](const analysis::TreeRect& rect) {
      return static_cast<double>(shown.tree.nodes[rect.node].*number);
    });
  };
  m.column(As::count, {"frame", "Index of `frames`, -1 = the root."}, shown.frame_of_rect);
  of_rect(As::count, "row", &analysis::TreeRect::row);
  of_rect(As::count, {"parent", "Index of the rectangle below which it is, -1 = none."},
          &analysis::TreeRect::parent);
  of_rect(As::number, {"left", "Pixels."}, &analysis::TreeRect::left);
  of_rect(As::number, "right", &analysis::TreeRect::right);
  of_node("weight", &CallTree::Node::width);
  of_node("self", &CallTree::Node::self);
  of_node("grew", &CallTree::Node::grew);
  of_node("lit", &CallTree::Node::lit);
  of_node("blocks", &CallTree::Node::blocks);
  m.column(As::count, {"hit", "1 = it has the text that was looked for."}, rects,
           [&](const analysis::TreeRect& rect) {
             const Column<uint8_t>* const keys = shown.search.keys;
             const int32_t key = shown.tree.nodes[rect.node].key;
             return keys != nullptr && key >= 0 ? int32_t{(*keys)[key]} : 0;
           });
}

}  // namespace

void describe(Members& m, const model::Recording& recording, const ShownTree& shown) {
  const CallTree::Node root = m.found([&] { return shown.tree.root(); });
  const TreeSearch& search = m.of(shown.search);
  m.is("FlameGraph");
  m.word("unit", kWeightUnits, [&] { return unit_of(shown.tree); });
  m.number({"total", "Of a difference what grew and what shrank; `grew` of it grew."}, root.width);
  m.number("grew", root.grew);
  m.number({"lit", "Of the blocks that the filter means."}, root.lit);
  m.number("blocks", root.blocks);
  m.number({"rest", "Of the file before: what its facts do not tell by stack, and is in no rectangle."},
           shown.rest);
  m.object({"found", "What is below a frame with the text that was looked for; null = nothing was."},
           search.keys == nullptr ? nullptr : &search.found, [&](const analysis::TreeFound& found) {
             m.number("weight", found.width);
             m.number("grew", found.grew);
             m.count("frames", found.frames);
           });
  m.count({"steps", "How many of the path exist here."}, shown.layout.steps);
  m.count("rows", shown.layout.rows);
  m.flag({"cut", "There were more rows, or more rectangles, than were wanted."}, shown.layout.cut);
  const auto write = [&](JsonWriter& json) {
    json.begin_array();
    int32_t written = 0;
    Column<int32_t> index(recording.budget);  // by key + 1
    const auto& rects = shown.layout.rects;
    const bool fits =
        index.resize(recording.frames.size() + 1, -1) && shown.frame_of_rect.resize(rects.size(), -1);
    for (size_t i = 0; i < rects.size() && fits; ++i) {
      if (rects[i].node == 0) continue;
      const int32_t key = shown.tree.nodes[rects[i].node].key;
      if (index[key + 1] < 0) {
        index[key + 1] = written++;
        to_json(json, CallFrame{recording, shown.tree.asked.by, key});
      }
      shown.frame_of_rect[i] = index[key + 1];
    }
    json.end_array();
  };
  m.written("frames", std::span<const CallFrame>(), write);
  m.of_columns("rects", [&] { describe_rects(m, shown); });
}

void describe(Members& m, const model::Recording& recording, const ShownRows& shown) {
  const CallTree::Node root = m.found([&] { return shown.tree.root(); });
  m.is("FrameRows");
  m.word("unit", kWeightUnits, [&] { return unit_of(shown.tree); });
  m.number("total", root.width);
  m.number("grew", root.grew);
  m.number({"rest", "As that of `FlameGraph`."}, shown.rest);
  m.count("count", shown.count);
  m.list("rows", shown.rows, [&](const analysis::FrameRow& row) {
    m.is("FrameRow");
    describe_frame(m, recording, m.found([&] { return shown.tree.asked.by; }), row.key);
    m.number("weight", row.total);
    m.number("self", row.self);
    m.number("grew", row.total_grew);
    m.number("self_grew", row.self_grew);
    m.number("blocks", row.blocks);
  });
}

void describe(Members& m, const analysis::RangeTotals& totals) {
  m.is(
      {"RangeTotals",
       "What the events of a range did: it begins in the state after `from` and ends in the state after `to`."});
  m.count("from", totals.from);
  m.count("to", totals.to);
  m.bytes("level_before", totals.level_before);
  m.bytes("level_after", totals.level_after);
  m.object({"peak", "The highest state within it, the one that it begins in included."}, [&] {
    m.count("event", totals.peak_event);
    m.bytes("bytes", totals.peak);
  });
  describe_sum(m, "allocated", totals.allocated);
  describe_sum(m, {"kept", "Of what was allocated: still there at the end."}, totals.kept);
  describe_sum(m, {"passed", "Of what was allocated: freed within the range."}, totals.passed);
  describe_sum(m, {"freed", "Whenever it was allocated."}, totals.freed);
}

}  // namespace gpustrata::answers
