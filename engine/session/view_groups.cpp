// View: the stack by group.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/replay/band_places.h"
#include "engine/replay/paint.h"
#include "engine/session/view.h"

namespace gpustrata::session {

using replay::ColumnGrid;
using replay::RowGrid;

Result<View::GroupStack> View::make_group_stack(const GroupsWanted& wanted) {
  if (wanted.by == analysis::GroupBy::allocation)
    return fail(ErrorCode::wrong_usage, -1, "where each block is a kind of its own there are no groups");
  // Of each band its kind, then its part of the stack.
  Column<uint8_t> part(budget_);
  if (!part.resize(static_cast<size_t>(bands_->count()), 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory to stack {} blocks by group",
                bands_->count());
  const auto groups = kinds(wanted.by);
  if (!groups) return tl::unexpected(groups.error());
  const int32_t blocks = ranked().count();
  const size_t own = (*groups)->kinds.size();
  for (int32_t band = 0; band < bands_->count(); ++band) {
    const int32_t rank = rank_of(band);
    part[band] = static_cast<uint8_t>(rank < blocks ? (*groups)->group[rank] : own);
  }
  const auto meant = filtered(wanted.filter);
  if (!meant) return tl::unexpected(meant.error());
  const bool split = *meant != nullptr;
  if (split) {
    const std::span<const uint8_t> matched = (*meant)->matches.matched.span();
    for (int32_t band = 0; band < bands_->count(); ++band) {
      const int32_t rank = rank_of(band);
      const bool is_meant = rank < blocks && matched[static_cast<size_t>(rank)] != 0;
      part[band] = static_cast<uint8_t>(part[band] * 2 + (is_meant ? 0 : 1));
    }
  }
  const size_t all = own + (pools_ ? 1 : 0);
  auto levels = replay::GroupLevels::build(*bands_, std::move(part),
                                           std::max<size_t>(all, 1) * (split ? 2 : 1), budget_);
  if (!levels) return tl::unexpected(levels.error());
  return GroupStack{static_cast<int32_t>(all), split, std::move(*levels)};
}

Result<const View::GroupStack*> View::group_stack(const GroupsWanted& wanted) {
  const auto found = kept<GroupStack>(
      memo_key(wanted.by, wanted.filter), [&] { return make_group_stack(wanted); }, 2);
  if (!found) return tl::unexpected(found.error());
  return *found;
}

Status View::draw_groups(const ColumnGrid& columns, const RowGrid& rows, const Look& look,
                         std::span<uint32_t> rgba) {
  const auto stack = group_stack({look.colour_by, look.kind < 0 ? look.filter : std::string_view()});
  if (!stack) return tl::unexpected(stack.error());
  replay::PaintStyle style;
  style.palette = {look.bands, look.nothing, look.dimmed_towards, look.envelope};
  const auto kinds = (*stack)->kinds - (pools_ ? 1 : 0);
  std::vector<uint32_t> values;
  for (int32_t kind = 0; kind < (*stack)->kinds; ++kind) {
    const uint32_t plain = kind == kinds        ? look.envelope
                           : look.bands.empty() ? 0xFF000000
                                                : look.bands[static_cast<size_t>(kind) % look.bands.size()];
    const uint32_t faded = replay::dimmed(plain, style.palette);
    const auto add = [&](uint32_t colour) {
      values.push_back(replay::kMeanBits | (colour & replay::kMeanMask));
    };
    add(look.kind >= 0 && kind != look.kind ? faded : plain);
    if ((*stack)->split) add(faded);
  }
  Column<uint32_t>& scratch = pixels().scratch;
  if (!scratch.resize(rgba.size(), 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a picture of {} pixels", rgba.size());
  scratch.truncate(rgba.size());
  replay::draw_groups(*timeline_, (*stack)->levels, columns, rows, values, scratch.span());
  replay::paint(scratch.span(), columns.count, rows.count, replay::BandColours(style), rgba);
  return {};
}

Result<std::vector<analysis::KindPlace>> View::group_places(const ColumnGrid& columns, const RowGrid& rows,
                                                            const GroupsWanted& wanted, int32_t least_columns,
                                                            int32_t least_rows) {
  std::vector<analysis::KindPlace> found;
  if (columns.count <= 0 || rows.count <= 0) return found;
  const auto stack = group_stack(wanted);
  if (!stack) return tl::unexpected(stack.error());
  const size_t size = static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count);
  Column<uint32_t>& scratch = pixels().scratch;
  if (!scratch.resize(size, 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the words in {} pixels", size);
  scratch.truncate(size);
  const uint32_t parts = (*stack)->split ? 2 : 1;
  std::vector<uint32_t> values;
  for (uint32_t part = 0; part < (*stack)->levels.groups(); ++part) values.push_back(part / parts);
  replay::draw_groups(*timeline_, (*stack)->levels, columns, rows, values, scratch.span());
  const auto position = [&](int32_t column) {
    return static_cast<double>(columns.first + column) * static_cast<double>(columns.width);
  };
  for (const replay::BandPlace& place :
       replay::find_band_places(scratch.span(), rows.count, {least_columns, least_rows, kMostLabels})) {
    analysis::KindPlace& one = found.emplace_back();
    one.kind = place.rank;
    one.x0 = position(place.column);
    one.x1 = position(place.column + place.columns);
    one.y0 = rows.bottom + place.row * rows.bytes_per_row;
    one.y1 = rows.bottom + (place.row + place.rows) * rows.bytes_per_row;
  }
  return found;
}

Result<std::optional<analysis::GroupPick>> View::pick_group(const GroupsWanted& wanted, replay::Axis axis,
                                                            int64_t column, int64_t width, double bytes) {
  const auto state = state_of(axis, column, width);
  if (!state) return std::optional<analysis::GroupPick>();
  const auto stack = group_stack(wanted);
  if (!stack) return tl::unexpected(stack.error());
  const replay::GroupLevels& levels = (*stack)->levels;
  replay::GroupLevels::Walk walk(levels);
  walk.move_to(state->event);
  analysis::GroupPick pick;
  pick.state = *state;
  const size_t part = replay::group_at(walk.bytes(), bytes);
  if (part == levels.groups()) return std::optional(pick);
  const size_t parts = (*stack)->split ? 2 : 1;
  const size_t first = part / parts * parts;
  pick.kind = static_cast<int32_t>(part / parts);
  const bool is_unused = pools_ && pick.kind == (*stack)->kinds - 1;
  for (size_t one = first; one < first + parts; ++one) {
    pick.share.bytes += walk.bytes()[one];
    pick.share.blocks += is_unused ? 0 : walk.bands()[one];
  }
  if ((*stack)->split)
    pick.matched = {.bytes = walk.bytes()[first], .blocks = is_unused ? 0 : walk.bands()[first]};
  return std::optional(pick);
}

Result<replay::GroupEdges> View::group_outline(const GroupsWanted& wanted, int32_t kind,
                                               const ColumnGrid& columns) {
  const auto stack = group_stack(wanted);
  if (!stack) return tl::unexpected(stack.error());
  const size_t parts = (*stack)->split ? 2 : 1;
  const size_t first = std::min(static_cast<size_t>(kind) * parts, (*stack)->levels.groups());
  const size_t end = std::min(first + parts, (*stack)->levels.groups());
  return replay::group_edges(*timeline_, (*stack)->levels, first, end, columns);
}

}  // namespace gpustrata::session
