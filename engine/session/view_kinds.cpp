// View: filters, colours by kind, and the shares of a moment.
#include <algorithm>
#include <utility>

#include "engine/base/saturating.h"
#include "engine/session/view.h"

namespace gpustrata::session {

Result<Filtered> View::find_filtered(std::string_view text) {
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  auto found = segments_ ? analysis::filter_segments(*device_, *segments_, **known, text)
                         : analysis::filter_blocks(*device_, text, peak_event(), device_->made_in());
  if (!found) return tl::unexpected(found.error());
  Filtered filtered{std::string(text), std::move(*found), 0};
  for (const int32_t rank : filtered.matches.ranks) {
    if (ranked().is_live_after(rank, peak_event())) add_saturated(filtered.at_peak, ranked().size[rank]);
  }
  return filtered;
}

Result<const Filtered*> View::filtered(std::string_view text) {
  if (text.find_first_not_of(" \t\n\r") == std::string_view::npos) return nullptr;
  if (only_ && text == only_->text) return &*only_;
  const auto found = kept<Filtered>(text, [&] { return find_filtered(text); });
  if (!found) return tl::unexpected(found.error());
  return *found;
}

Result<const Column<int32_t>*> View::lit_spans(std::string_view text) {
  if (segments_) return nullptr;
  const auto filter = filtered(text);
  if (!filter) return tl::unexpected(filter.error());
  if (*filter == nullptr) return nullptr;
  const auto found = kept<Column<int32_t>>(
      text,
      [&]() -> Result<Column<int32_t>> {
        const auto lanes = device_->lanes();
        if (!lanes) return tl::unexpected(lanes.error());
        return analysis::count_lit_spans(recording(), device_->part(), *device_->trace(), device_->lives(),
                                         **lanes, (*filter)->matches, text);
      },
      1);
  if (!found) return tl::unexpected(found.error());
  return *found;
}

Result<analysis::Completions> View::complete(std::string_view text, size_t cursor) {
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  return analysis::complete_filter(recording(), ranked(), **known, text, cursor);
}

Result<analysis::BlockGroups> View::find_kinds(analysis::GroupBy by) {
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  const analysis::Keys* lines = nullptr;
  if (by == analysis::GroupBy::stack) {
    const auto keys = device_->keys(analysis::By::line);
    if (!keys) return tl::unexpected(keys.error());
    lines = *keys;
  }
  auto found = analysis::group_blocks(recording(), ranked(), **known, by, peak_event(), lines);
  if (!found || by != analysis::GroupBy::category || segments_) return found;
  const bool is_unknown = found->kinds.size() == 1 && found->kinds[0].key < 0 && found->kinds[0].merged == 0;
  if (!is_unknown) return found;
  const auto sorted = device_->categories();
  if (!sorted) return tl::unexpected(sorted.error());
  return analysis::group_by_rules(recording(), ranked(), (*sorted)->categories, (*sorted)->rules,
                                  peak_event());
}

Result<const analysis::BlockGroups*> View::kinds(analysis::GroupBy by) {
  const auto found = kept<analysis::BlockGroups>(memo_key(by), [&] { return find_kinds(by); });
  if (!found) return tl::unexpected(found.error());
  return *found;
}

Result<std::span<const uint8_t>> View::lit(const analysis::BlockGroups& groups, int32_t kind) {
  const auto found = kept<Column<uint8_t>>(
      memo_key(groups.by, kind),
      [&]() -> Result<Column<uint8_t>> {
        Column<uint8_t> matched(budget_);
        if (!matched.resize(groups.group.size(), 0))
          return fail(ErrorCode::limit_exceeded, -1, "not enough memory to light one kind of block");
        for (size_t r = 0; r < groups.group.size(); ++r)
          matched[r] = groups.group[r] == static_cast<uint32_t>(kind) ? 1 : 0;
        return matched;
      },
      1);
  if (!found) return tl::unexpected(found.error());
  return std::span<const uint8_t>((*found)->span());
}

Result<analysis::Shares> View::shares(analysis::GroupBy by, int32_t event, std::string_view filter) {
  const auto groups = kinds(by);
  if (!groups) return tl::unexpected(groups.error());
  const replay::Bands& lives = ranked();
  event = std::clamp(event, -1, lives.events.count - 1);
  analysis::Shares shares;
  shares.event = event;
  shares.level = bands_->level_after(event);
  if (pools_) shares.unused = shares.level - lives.level_after(event);
  const auto live = live_at(event);
  if (!live) return tl::unexpected(live.error());
  shares.kinds = analysis::shares_of(lives, **groups, live->span());
  const auto meant = filtered(filter);
  if (!meant) return tl::unexpected(meant.error());
  if (*meant != nullptr) {
    shares.matched.emplace();
    for (const int32_t rank : *live) {
      if ((*meant)->matches.matched[rank] == 0) continue;
      add_saturated(shares.matched->bytes, lives.size[rank]);
      ++shares.matched->blocks;
    }
  }
  return shares;
}

}  // namespace gpustrata::session
