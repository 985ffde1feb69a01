// View: what a range did, and calls as trees.
#include <algorithm>
#include <utility>

#include "engine/analysis/call_tree_layout.h"
#include "engine/session/view.h"

namespace memstrata::session {

analysis::RangeTotals View::range(replay::Axis axis, int64_t from, int64_t to) const {
  if (from > to) std::swap(from, to);
  return analysis::find_range_totals(ranked(), timeline_->event_at(axis, from),
                                     timeline_->event_at(axis, to));
}

Result<View::Calls*> View::kept_calls(const TreeWanted& wanted) {
  analysis::TreeAsked asked = wanted.asked;
  const int32_t last = event_count() - 1;
  asked.weights.from = std::clamp(asked.weights.from, -1, last);
  asked.weights.to = std::clamp(asked.weights.to, -1, last);
  if (calls_ && calls_->tree.asked == asked && calls_->filter == wanted.filter) return &*calls_;
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  calls_.reset();
  auto built = with_room([&]() -> Result<analysis::CallTree> {
    const auto meant = filtered(wanted.filter);
    if (!meant) return tl::unexpected(meant.error());
    const std::span<const uint8_t> matched =
        *meant == nullptr ? std::span<const uint8_t>() : (*meant)->matches.matched.span();
    return analysis::build_call_tree(
        {recording(), ranked(), *timeline_, (*known)->stack.span(), matched, asked.only_matched}, asked);
  });
  if (!built) return tl::unexpected(built.error());
  calls_.emplace(Calls{std::string(wanted.filter), std::move(*built), {}, {}, true, std::nullopt});
  return &*calls_;
}

Result<const analysis::CallTree*> View::calls(const TreeWanted& wanted) {
  const auto calls = kept_calls(wanted);
  if (!calls) return tl::unexpected(calls.error());
  return &(*calls)->tree;
}

Result<std::span<const analysis::FrameRow>> View::call_rows(const TreeWanted& wanted,
                                                            const RowsWanted& rows) {
  const auto kept = kept_calls(wanted);
  if (!kept) return tl::unexpected(kept.error());
  Calls& calls = **kept;
  if (!calls.rows || calls.search != rows.search || calls.order != rows.order ||
      calls.descending != rows.descending) {
    calls.rows.reset();
    Column<uint8_t> keys(budget_);
    const bool all = rows.search.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!all && !analysis::find_keys_with(recording(), calls.tree, rows.search, keys))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to look for a text in all calls");
    auto found = analysis::find_frame_rows(recording(), calls.tree, rows.order, rows.descending, keys.span());
    if (!found) return tl::unexpected(found.error());
    calls.search = rows.search;
    calls.order = rows.order;
    calls.descending = rows.descending;
    calls.rows.emplace(std::move(*found));
  }
  return std::span<const analysis::FrameRow>(calls.rows->span());
}

}  // namespace memstrata::session
