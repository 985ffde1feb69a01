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

Status range(Asked& asked) {
  const Arguments& given = asked.arguments;
  answers::to_json(asked.json(), asked.view->range(given.word<replay::Axis>("axis"), given.whole("from"),
                                                   given.whole("to")));
  return {};
}

Status flame(Asked& asked) {
  using analysis::CallTree;
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
  answers::to_columns(asked.json(), asked.answer, recording,
                      answers::ShownTree{*tree, *layout, search, calls->rest, frame_of_rect});
  if (frame_of_rect.size() < layout->rects.size())
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a flame graph");
  return {};
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

// clang-format off
constexpr Question kOfTrees[] = {
    // The rules of categories that a text has (engine/analysis/categories/category_rules.h), those of the engine if it is empty; refused
    // with the line that is wrong.
    {"categoryRules", Of::file, "text: Text", "CategoryRules", category_rules},
    // What happened from one position of the axis to another: from the state that is shown at `from` to that at `to`
    // (engine/analysis/live/stack_weights.h).
    {"range", Of::view, "axis: Axis, from: Whole, to: Whole", "RangeTotals", range},
    // Who holds the memory of a moment (engine/analysis/live/holders.h), most bytes first, at most 1,000. `rules`: those of
    // categories; without them the engine's own.
    {"holders", Of::view, "by: HolderBy, event: Event, filter: Text, rules?: Text, first: Count, count: Count", "Holders", holders},
    // What one block is for, and the rule that says so; null = it is no block.
    {"category", Of::view, "rank: Rank, rules?: Text", "BlockCategory | null", category},
    // Who asked for memory, as a flame graph: rectangles at least a pixel wide, in rows from the root on. `path`:
    // keys of frames from the root's child to the one that fills the width (engine/analysis/calls/call_tree.h). `before`: calls of
    // another file, less which these are.
    {"flame", Of::view, "tree: CallTree, before?: CallFacts, path: FrameOrNone[], width: Pixels, rows: Pixels, search: Text", "FlameGraph", flame},
    // What calls hold, for `before` of another file's `flame` and `flameRows` (engine/analysis/calls/carried_calls.h); by whole stacks,
    // those with the most.
    {"callFacts", Of::view, "tree: CallTree", "CallFacts", call_facts},
    // The same as a table, a row for each frame; at most 1,000. `search`: only those with this text.
    {"flameRows", Of::view, "tree: CallTree, before?: CallFacts, search: Text, order: FrameOrder, descending: Flag, first: Count, count: Count", "FrameRows", flame_rows},
};
// clang-format on

}  // namespace

std::span<const Question> of_trees() { return kOfTrees; }

}  // namespace gpustrata::session::reply
