// View: bands stacked by group.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/saturating.h"
#include "engine/session/view.h"

namespace gpustrata::session {

using analysis::BandLabel;
using replay::ColumnGrid;
using replay::RowGrid;

Result<View::GroupStack> View::make_group_stack(analysis::GroupBy by) {
  if (by == analysis::GroupBy::allocation)
    return fail(ErrorCode::wrong_usage, -1, "where each block is a kind of its own there are no groups");
  const auto kinds_of_blocks = kinds(by);
  if (!kinds_of_blocks) return tl::unexpected(kinds_of_blocks.error());
  const analysis::BlockGroups& known = **kinds_of_blocks;
  const int32_t blocks = ranked().count();
  const size_t own = known.kinds.size();
  Column<uint8_t> kind(budget_);
  if (!kind.resize(static_cast<size_t>(bands_->count()), 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to stack {} blocks by group",
                bands_->count());
  for (int32_t band = 0; band < bands_->count(); ++band) {
    const int32_t rank = rank_of(band);
    kind[band] = static_cast<uint8_t>(rank < blocks ? known.group[rank] : own);
  }
  const size_t all = std::max<size_t>(own + (pools_ ? 1 : 0), 1);
  auto bands = replay::GroupedBands::make(*bands_, kind.span(), all, budget_);
  if (!bands) return tl::unexpected(bands.error());
  Column<int32_t> ranks(budget_);
  if (!ranks.resize(bands->band().size(), 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to stack {} blocks by group", blocks);
  for (size_t place = 0; place < ranks.size(); ++place) ranks[place] = rank_of(bands->band()[place]);
  auto timeline = timeline_->restacked(*bands, budget_);
  if (!timeline) return tl::unexpected(timeline.error());
  return GroupStack{std::move(*bands), std::move(ranks), std::move(*timeline)};
}

Result<const View::GroupStack*> View::group_stack(analysis::GroupBy by) {
  const auto found = kept<GroupStack>(
      memo_key(by), [&] { return make_group_stack(by); }, 1);
  if (!found) return tl::unexpected(found.error());
  return *found;
}

Result<View::Stack> View::stack(Stacking stacking) {
  if (!stacking) return Stack{*timeline_};
  const auto found = group_stack(*stacking);
  if (!found) return tl::unexpected(found.error());
  return Stack{(*found)->timeline, *found};
}

int32_t View::rank_at(const Stack& stack, int32_t place) const {
  if (stack.groups == nullptr) return rank_of(place);
  return place < 0 ? -1 : stack.groups->rank_of_place[place];
}

int32_t View::place_of(const Stack& stack, int32_t rank) const {
  if (stack.groups == nullptr) return band_of(rank);
  const replay::PoolEnvelope* const pool = envelope(rank);
  if (pool == nullptr) return stack.groups->bands.place_of(band_of(rank));
  const bool keeps_any = pool->first_rest < pool->end_band;
  return keeps_any ? stack.groups->bands.place_of(pool->first_rest)
                   : stack.groups->bands.first_of(stack.groups->bands.groups());
}

Result<std::optional<analysis::GroupPick>> View::pick_group(const analysis::BandPick& state, double bytes,
                                                            Stacking stacking, std::string_view filter) {
  const auto found = stack(stacking);
  if (!found) return tl::unexpected(found.error());
  const int32_t place = found->groups == nullptr ? -1 : found->timeline.pick(state.event, bytes);
  if (place < 0) return std::optional<analysis::GroupPick>();
  const auto meant = filtered(filter);
  if (!meant) return tl::unexpected(meant.error());
  const replay::GroupedBands& bands = found->groups->bands;
  analysis::GroupPick pick;
  pick.kind = bands.group_of(place);
  if (*meant != nullptr) pick.matched.emplace();
  Column<int32_t> live(budget_);
  if (!found->timeline.live_at(state.event, live, bands.first_of(pick.kind), bands.first_of(pick.kind + 1)))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to list what is in use");
  for (const int32_t one : live) {
    const int64_t size = bands.size()[static_cast<size_t>(one)];
    const int32_t rank = rank_at(*found, one);
    const bool is_block = rank < ranked().count();
    add_saturated(pick.share.bytes, size);
    pick.share.blocks += is_block ? 1 : 0;
    if (*meant == nullptr || !is_block || (*meant)->matches.matched[static_cast<size_t>(rank)] == 0) continue;
    add_saturated(pick.matched->bytes, size);
    ++pick.matched->blocks;
  }
  return std::optional(pick);
}

Result<View::Edges> View::group_outline(analysis::GroupBy by, int32_t kind, const ColumnGrid& columns) {
  const auto found = group_stack(by);
  if (!found) return tl::unexpected(found.error());
  const replay::GroupedBands& bands = (*found)->bands;
  const auto edge = [&](int32_t group) {
    return (*found)->timeline.edge(bands.first_of(std::min(group, bands.groups())), -1, bands_->events.count,
                                   columns);
  };
  const int32_t group = std::min(kind, bands.groups());
  Edges edges{edge(group), edge(group + 1)};
  for (size_t column = 0; column < edges.lower.size(); ++column) {
    if (edges.lower[column] == edges.upper[column])
      edges.lower[column] = edges.upper[column] = std::numeric_limits<double>::quiet_NaN();
  }
  return edges;
}

Result<std::vector<BandLabel>> View::group_labels(analysis::GroupBy by, const GroupStack& stack,
                                                  const ColumnGrid& columns, const RowGrid& rows,
                                                  const replay::PlaceLimits& limits) {
  const size_t size = static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count);
  Pixels& kept = pixels(true);
  if (kept.words_by != by) kept.words.forget();
  kept.words_by = by;
  const std::span<const uint32_t> blocks = kept.words.draw(stack.timeline, columns, rows);
  Column<uint32_t> kinds(budget_);
  if (blocks.size() != size || !kinds.resize(size, replay::kNothing))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the words in {} pixels", size);
  std::vector<BandLabel> labels;
  std::vector<uint32_t> named;  // places, ascending
  for (const replay::BandPlace& place : replay::find_band_places(blocks, rows.count, limits)) {
    const int32_t rank = stack.rank_of_place[place.rank];
    if (rank >= ranked().count()) continue;  // what a pool keeps unused
    auto label = label_of(rank, place, columns, rows, limits);
    if (!label) return tl::unexpected(label.error());
    labels.push_back(std::move(*label));
    named.push_back(static_cast<uint32_t>(place.rank));
  }
  std::sort(named.begin(), named.end());
  // What other blocks cover is the group's. Places ascend in a column, so groups and names are walked along.
  const std::span<const int32_t> first = stack.bands.first();
  for (size_t column = 0; column < size; column += static_cast<size_t>(rows.count)) {
    uint32_t last = replay::kNothing, kind = replay::kNothing, group = 0;
    auto name = named.begin();
    for (size_t i = column; i < column + static_cast<size_t>(rows.count); ++i) {
      if (blocks[i] == replay::kNothing) continue;
      const uint32_t place = blocks[i] & replay::kRankMask;
      if (place != last) {
        last = place;
        while (static_cast<int32_t>(place) >= first[group + 1]) ++group;
        while (name != named.end() && *name < place) ++name;
        kind = name != named.end() && *name == place ? replay::kNothing : group;
      }
      kinds[i] = kind;
    }
  }
  for (const replay::BandPlace& place : replay::find_band_places(kinds.span(), rows.count, limits)) {
    BandLabel& label = labels.emplace_back(placed(place, columns, rows));
    label.kind = place.rank;
  }
  return labels;
}

}  // namespace gpustrata::session
