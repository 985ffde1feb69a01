// View: who holds the memory of a moment.
#include <algorithm>
#include <utility>

#include "engine/session/view.h"

namespace gpustrata::session {

namespace {

constexpr size_t kMostHolderKinds = 5;  // ways to tell holders apart

}  // namespace

Result<const View::HolderKinds*> View::holder_kinds(const HolderQuestion& question) {
  const bool sorts = question.by == analysis::HolderBy::category;
  const std::string_view rules = sorts ? question.rules : std::string_view();
  for (const auto& one : holder_kinds_) {
    if (one->keys->by == question.by && one->rules_text == rules) return one.get();
  }
  if (sorts && segments_)
    return fail(ErrorCode::wrong_usage, -1, "Categories are those of blocks; segments have none.");
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  auto made = with_room([&]() -> Result<std::unique_ptr<HolderKinds>> {
    auto kinds = std::make_unique<HolderKinds>();
    kinds->rules_text = rules;
    if (sorts) {
      if (rules.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        const auto shared = device_->categories();
        if (!shared) return tl::unexpected(shared.error());
        kinds->known = *shared;
      } else {
        auto found = analysis::find_known_categories(recording(), device_->part(), device_->replayed().rows,
                                                     device_->lives(), (*known)->stack, rules);
        if (!found) return tl::unexpected(found.error());
        kinds->known = &kinds->of_rules.emplace(std::move(*found));
      }
    }
    auto keys = analysis::find_holder_keys(recording(), (*known)->stack.span(), question.by, kinds->known);
    if (!keys) return tl::unexpected(keys.error());
    kinds->keys.emplace(std::move(*keys));
    return kinds;
  });
  if (!made) return tl::unexpected(made.error());
  if (holder_kinds_.size() == kMostHolderKinds) holder_kinds_.erase(holder_kinds_.begin());
  return holder_kinds_.emplace_back(std::move(*made)).get();
}

Result<analysis::Holders> View::holders(const HolderQuestion& question, const HolderKinds& kinds) {
  const auto meant = filtered(question.filter);
  if (!meant) return tl::unexpected(meant.error());
  const std::span<const uint8_t> matched =
      *meant == nullptr ? std::span<const uint8_t>() : (*meant)->matches.matched.span();
  const int32_t event = std::clamp(question.event, -1, event_count() - 1);
  return analysis::find_holders(ranked(), *kinds.keys, event, matched, kinds.known, budget_);
}

}  // namespace gpustrata::session
