#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/analysis/calls/call_tree_layout.h"
#include "engine/analysis/categories/category_rules.h"
#include "engine/answers/calls/call_tree.h"
#include "engine/answers/calls/carried_calls.h"
#include "engine/answers/live/holders.h"
#include "engine/session/replies.h"

namespace gpustrata::session::reply {

namespace {

constexpr size_t kMostRows = 1000;

// Numbers of the nodes of rectangles, as columns of the answer.
class RectColumns {
 public:
  RectColumns(Asked& asked, const analysis::CallTree& tree, const analysis::TreeLayout& layout)
      : answer_(asked.answer),
        tree_(tree),
        layout_(layout),
        whole_(asked.session.recording().budget),
        real_(asked.session.recording().budget),
        places_(asked.session.recording().budget) {}

  template <typename Number>
  [[nodiscard]] Status whole(std::string_view name, Number number) {
    return column(name, whole_, int32_t{0}, number);
  }
  template <typename Number>
  [[nodiscard]] Status place(std::string_view name, Number number) {
    return column(name, places_, 0.F, number);
  }
  template <typename Number>
  [[nodiscard]] Status of_node(std::string_view name, Number number) {
    return column(name, real_, 0.0, [&](const analysis::TreeRect& rect) {
      return static_cast<double>(number(tree_.nodes[rect.node]));
    });
  }

 private:
  template <typename T, typename Number>
  [[nodiscard]] Status column(std::string_view name, Column<T>& values, T none, Number number) {
    if (!values.resize(layout_.rects.size(), none))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a flame graph");
    for (size_t i = 0; i < values.size(); ++i) values[i] = number(layout_.rects[i]);
    return answer_.column(name, values.span());
  }

  AnswerFrame& answer_;
  const analysis::CallTree& tree_;
  const analysis::TreeLayout& layout_;
  Column<int32_t> whole_;
  Column<double> real_;
  Column<float> places_;
};

// The calls of the other recording, if the question has some.
[[nodiscard]] Result<std::optional<analysis::CarriedCalls>> before_of(const Asked& asked) {
  if (!asked.arguments.has("before")) return std::optional<analysis::CarriedCalls>();
  auto calls = asked.arguments.carried_calls("before", asked.session.recording().budget);
  if (!calls) return tl::unexpected(calls.error());
  return std::optional<analysis::CarriedCalls>(std::move(*calls));
}

[[nodiscard]] TreeWanted wanted_of(const Asked& asked, const std::optional<analysis::CarriedCalls>& before) {
  TreeWanted wanted = asked.arguments.call_tree("tree");
  wanted.before = before ? &*before : nullptr;
  return wanted;
}

// Blank ones are the engine's own.
[[nodiscard]] std::string_view rules_of(const Arguments& given) {
  return given.has("rules") ? given.text("rules") : std::string_view();
}

}  // namespace

Status range(Asked& asked) {
  const Arguments& given = asked.arguments;
  answers::to_json(asked.json(), asked.view->range(given.word<replay::Axis>("axis"), given.whole("from"),
                                                   given.whole("to")));
  return {};
}

Status flame(Asked& asked) {
  using analysis::CallTree;
  using analysis::TreeRect;
  const auto before = before_of(asked);
  if (!before) return tl::unexpected(before.error());
  const auto calls = asked.view->calls(wanted_of(asked, *before));
  if (!calls) return tl::unexpected(calls.error());
  const CallTree* const tree = &calls->tree;
  const model::Recording& recording = calls->recording;
  const std::vector<int32_t> path = asked.arguments.integers("path");
  const auto layout = analysis::lay_out(
      recording, *tree, {path, asked.arguments.integer("width"), asked.arguments.integer("rows")});
  if (!layout) return tl::unexpected(layout.error());

  answers::TreeSearch search;
  Column<uint8_t> keys(recording.budget);
  const std::string_view text = asked.arguments.text("search");
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    if (!analysis::find_keys_with(recording, *tree, text, keys) ||
        !analysis::find_in_tree(recording, *tree, keys, search.found))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to look for a text in all calls");
    search.keys = &keys;
  }
  Column<int32_t> frame_of_rect(recording.budget);
  answers::to_json(asked.json(), recording,
                   answers::ShownTree{*tree, *layout, search, calls->rest, frame_of_rect});
  if (frame_of_rect.size() < layout->rects.size())
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a flame graph");

  RectColumns columns(asked, *tree, *layout);
  Status written = asked.answer.column("rects.frame", frame_of_rect.span());
  if (written) written = columns.whole("rects.row", [](const TreeRect& rect) { return rect.row; });
  if (written) written = columns.whole("rects.parent", [](const TreeRect& rect) { return rect.parent; });
  if (written) written = columns.place("rects.left", [](const TreeRect& rect) { return rect.left; });
  if (written) written = columns.place("rects.right", [](const TreeRect& rect) { return rect.right; });
  if (written)
    written = columns.of_node("rects.weight", [](const CallTree::Node& node) { return node.width; });
  if (written) written = columns.of_node("rects.self", [](const CallTree::Node& node) { return node.self; });
  if (written) written = columns.of_node("rects.grew", [](const CallTree::Node& node) { return node.grew; });
  if (written) written = columns.of_node("rects.lit", [](const CallTree::Node& node) { return node.lit; });
  if (written)
    written = columns.of_node("rects.blocks", [](const CallTree::Node& node) { return node.blocks; });
  if (!written) return written;
  return columns.whole("rects.hit", [&](const TreeRect& rect) {
    const int32_t key = tree->nodes[rect.node].key;
    return search.keys != nullptr && key >= 0 ? int32_t{keys[key]} : 0;
  });
}

Status call_facts(Asked& asked) {
  const auto calls = asked.view->carried_calls(asked.arguments.call_tree("tree"));
  if (!calls) return tl::unexpected(calls.error());
  answers::to_json(asked.json(), *calls);
  return {};
}

Status flame_rows(Asked& asked) {
  const Arguments& given = asked.arguments;
  const auto before = before_of(asked);
  if (!before) return tl::unexpected(before.error());
  const TreeWanted wanted = wanted_of(asked, *before);
  const auto rows = asked.view->call_rows(
      wanted, {given.text("search"), given.word<analysis::RowOrder>("order"), given.flag("descending")});
  if (!rows) return tl::unexpected(rows.error());
  const auto calls = asked.view->calls(wanted);
  if (!calls) return tl::unexpected(calls.error());
  const size_t first = std::min(static_cast<size_t>(given.integer("first")), rows->size());
  const size_t count =
      std::min({static_cast<size_t>(given.integer("count")), kMostRows, rows->size() - first});
  answers::to_json(asked.json(), calls->recording,
                   answers::ShownRows{calls->tree, calls->rest, static_cast<int64_t>(rows->size()),
                                      rows->subspan(first, count)});
  return {};
}

Status holders(Asked& asked) {
  const Arguments& given = asked.arguments;
  const auto found = asked.view->holders(
      {given.word<analysis::By>("by"), given.integer("event"), given.text("filter"), rules_of(given)});
  if (!found) return tl::unexpected(found.error());
  answers::to_json(asked.json(), asked.session.recording(), *found,
                   answers::HolderRows{static_cast<size_t>(given.integer("first")),
                                       std::min(static_cast<size_t>(given.integer("count")), kMostRows)});
  return {};
}

Status category(Asked& asked) {
  const std::string_view rules = rules_of(asked.arguments);
  const auto categories = asked.view->categories(rules);
  if (!categories) return tl::unexpected(categories.error());
  const analysis::KnownCategories& known = **categories;
  const auto rank = static_cast<size_t>(asked.arguments.integer("rank"));
  if (rank >= known.categories.rule.size()) {  // an envelope
    asked.json().null();
    return {};
  }
  answers::to_json(
      asked.json(),
      answers::DecidedCategory{known.rules, known.categories.rule[rank],
                               known.own ? analysis::category_rules_of(asked.view->device().part()) : rules});
  return {};
}

Status category_rules(Asked& asked) {
  std::string_view text = asked.arguments.text("text");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    text = analysis::category_rules_of(asked.session.recording().parts.front());
  const auto rules = analysis::parse_category_rules(text);
  if (!rules) return tl::unexpected(rules.error());
  answers::to_json(asked.json(), *rules, text);
  return {};
}

}  // namespace gpustrata::session::reply
