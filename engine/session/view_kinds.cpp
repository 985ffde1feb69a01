// View: filters, colours by kind, and the shares of a moment.
#include <algorithm>
#include <utility>

#include "engine/base/saturating.h"
#include "engine/session/view.h"

namespace gpustrata::session {

namespace {

constexpr size_t kMostKindsKept = 4;  // filters, and ways to colour

// Moves the one that is wanted to the end; null if there is none.
template <typename T, typename Wanted>
[[nodiscard]] T* kept(std::vector<std::unique_ptr<T>>& all, Wanted&& wanted) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return wanted(*one); });
  if (found == all.end()) return nullptr;
  std::rotate(found, found + 1, all.end());
  return all.back().get();
}

template <typename T>
T* keep(std::vector<std::unique_ptr<T>>& all, T&& one) {
  if (all.size() == kMostKindsKept) all.erase(all.begin());
  return all.emplace_back(std::make_unique<T>(std::forward<T>(one))).get();
}

}  // namespace

Result<const Filtered*> View::filtered(std::string_view text) {
  if (text.find_first_not_of(" \t\n\r") == std::string_view::npos) return nullptr;
  if (only_ && text == only_->text) return &*only_;
  if (const Filtered* known = kept(filters_, [&](const Filtered& one) { return one.text == text; }))
    return known;
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  const replay::Bands& lives = ranked();
  auto found = with_room([&] {
    return segments_ ? analysis::filter_segments(recording(), *segments_, **known, text)
                     : analysis::filter_blocks(
                           recording(), device_->part(), device_->lives(), **known, text, peak_event(),
                           [&] { return device_->known().categories(); }, device_->made_in());
  });
  if (!found) return tl::unexpected(found.error());
  Filtered filtered{std::string(text), std::move(*found), 0};
  for (const int32_t rank : filtered.matches.ranks) {
    const auto r = static_cast<size_t>(rank);
    if (lives.is_live_after(rank, peak_event())) add_saturated(filtered.at_peak, lives.size[r]);
  }
  return keep(filters_, std::move(filtered));
}

Result<const Column<int32_t>*> View::lit_spans(std::string_view text) {
  if (segments_) return nullptr;
  const auto filter = filtered(text);
  if (!filter) return tl::unexpected(filter.error());
  if (*filter == nullptr) return nullptr;
  if (!lit_spans_ || lit_spans_->filter != text) {
    lit_spans_.reset();
    const auto lanes = device_->lanes();
    if (!lanes) return tl::unexpected(lanes.error());
    auto found = analysis::count_lit_spans(recording(), device_->part(), *device_->trace(), device_->lives(),
                                           **lanes, (*filter)->matches, text);
    if (!found) return tl::unexpected(found.error());
    lit_spans_.emplace(LitSpans{std::string(text), std::move(*found)});
  }
  return &lit_spans_->before;
}

Result<analysis::Completions> View::complete(std::string_view text, size_t cursor) {
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  return analysis::complete_filter(recording(), ranked(), **known, text, cursor);
}

Result<const analysis::BlockGroups*> View::kinds(analysis::GroupBy by) {
  if (const auto* known = kept(groups_, [&](const analysis::BlockGroups& one) { return one.by == by; }))
    return known;
  const auto known = attributes();
  if (!known) return tl::unexpected(known.error());
  auto found = with_room([&]() -> Result<analysis::BlockGroups> {
    const analysis::Keys* lines = nullptr;
    if (by == analysis::GroupBy::stack) {
      const auto keys = device_->known().keys(analysis::By::line);
      if (!keys) return tl::unexpected(keys.error());
      lines = *keys;
    }
    return analysis::group_blocks(recording(), ranked(), **known, by, peak_event(), lines);
  });
  if (!found) return tl::unexpected(found.error());
  const bool is_unknown = found->kinds.size() == 1 && found->kinds[0].key < 0 && found->kinds[0].merged == 0;
  if (by == analysis::GroupBy::category && is_unknown && !segments_) {
    const auto sorted = device_->known().categories();
    if (!sorted) return tl::unexpected(sorted.error());
    auto guessed = analysis::group_by_rules(recording(), ranked(), (*sorted)->categories, (*sorted)->rules,
                                            peak_event());
    if (!guessed) return tl::unexpected(guessed.error());
    return keep(groups_, std::move(*guessed));
  }
  return keep(groups_, std::move(*found));
}

Result<std::span<const uint8_t>> View::lit(const analysis::BlockGroups& groups, int32_t kind) {
  if (!lit_ || lit_->by != groups.by || lit_->kind != kind) {
    lit_.reset();
    Lit lit{groups.by, kind, Column<uint8_t>(budget_)};
    if (!lit.matched.resize(groups.group.size(), 0))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory to light one kind of block");
    for (size_t r = 0; r < groups.group.size(); ++r)
      lit.matched[r] = groups.group[r] == static_cast<uint32_t>(kind) ? 1 : 0;
    lit_.emplace(std::move(lit));
  }
  return std::span<const uint8_t>(lit_->matched.span());
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
