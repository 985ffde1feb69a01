// View: who holds the memory of a moment.
#include <algorithm>
#include <utility>

#include "engine/session/view.h"

namespace gpustrata::session {

namespace {

constexpr size_t kMostRules = 4;

}  // namespace

Result<const analysis::KnownCategories*> View::categories(std::string_view rules) {
  if (segments_)
    return fail(ErrorCode::wrong_usage, -1, "Categories are those of blocks; segments have none.");
  if (rules.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return with_room([&] { return device_->known().categories(); });
  for (const auto& one : of_rules_) {
    if (one->text == rules) return &one->known;
  }
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  const auto steps = device_->known().steps();
  if (!steps) return tl::unexpected(steps.error());
  auto found = with_room([&] {
    return analysis::find_known_categories(recording(), device_->part(), device_->lives(), (*known)->stack,
                                           **steps, rules);
  });
  if (!found) return tl::unexpected(found.error());
  if (of_rules_.size() == kMostRules) of_rules_.erase(of_rules_.begin());
  return &of_rules_.emplace_back(std::make_unique<OfRules>(OfRules{std::string(rules), std::move(*found)}))
              ->known;
}

Result<analysis::Holders> View::holders(const HolderQuestion& question) {
  // The filter first: finding it out may let go of what else is kept, and the other way round.
  if (const auto meant = filtered(question.filter); !meant) return tl::unexpected(meant.error());
  analysis::Holders holders{question.by, std::clamp(question.event, -1, event_count() - 1),
                            analysis::CategorySums(budget_)};
  if (question.by == analysis::By::category) {
    const auto known = categories(question.rules);
    if (!known) return tl::unexpected(known.error());
    holders.categories = *known;
  } else {
    const auto keys = with_room([&] { return device_->known().keys(question.by); });
    if (!keys) return tl::unexpected(keys.error());
    holders.keys = *keys;
  }
  const auto meant = filtered(question.filter);
  if (!meant) return tl::unexpected(meant.error());
  if (holders.categories != nullptr && !holders.categories->own && of_rules_.empty())  // they were let go
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a filter and rules at once");
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
