// View: who holds the memory of a moment.
#include <algorithm>
#include <utility>

#include "engine/session/view.h"

namespace gpustrata::session {

Result<const analysis::KnownCategories*> View::categories(std::string_view rules) {
  if (segments_)
    return fail(ErrorCode::wrong_usage, -1, "Categories are those of blocks; segments have none.");
  return device_->categories(rules);
}

Result<analysis::Holders> View::holders(const HolderQuestion& question) {
  analysis::Holders holders{question.by, std::clamp(question.event, -1, event_count() - 1),
                            analysis::CategorySums(budget_)};
  if (question.by == analysis::By::category) {
    const auto known = categories(question.rules);
    if (!known) return tl::unexpected(known.error());
    holders.categories = *known;
  } else {
    const auto keys = device_->keys(question.by);
    if (!keys) return tl::unexpected(keys.error());
    holders.keys = *keys;
  }
  const auto meant = filtered(question.filter);
  if (!meant) return tl::unexpected(meant.error());
  const std::span<const uint8_t> lit =
      *meant == nullptr ? std::span<const uint8_t>() : (*meant)->matches.matched.span();
  const auto live = live_at(holders.event);
  if (!live) return tl::unexpected(live.error());
  if (holders.categories != nullptr) {
    auto found = analysis::sums_by_category(ranked(), live->span(), holders.categories->categories,
                                            holders.categories->rules, lit, budget_);
    if (!found) return tl::unexpected(found.error());
    holders.found = std::move(*found);
    return holders;
  }
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  const auto by_stack = analysis::sums_by_stack(ranked(), live->span(), (*known)->stack.span(), lit, budget_);
  if (!by_stack) return tl::unexpected(by_stack.error());
  analysis::BlockSums& sums = holders.found.sums;
  if (!analysis::regroup(
          *by_stack, [&](const analysis::BlockSum& sum) { return holders.keys->of(StackId{sum.key}); }, sums))
    return fail(ErrorCode::limit_exceeded, -1, "Not enough memory to tell who holds {} blocks.",
                live->size());
  sums.order();
  return holders;
}

}  // namespace gpustrata::session
