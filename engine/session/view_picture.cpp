// View: pictures, the curves above them, the words in them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/analysis/details/block_details.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/replay/band_places.h"
#include "engine/replay/paint.h"
#include "engine/replay/state_sketch.h"
#include "engine/session/view.h"

namespace gpustrata::session {

using analysis::BandLabel;
using replay::ColumnGrid;
using replay::RowGrid;

namespace {

constexpr double kLabelForPlace = 2.5;  // times the width of a label that shows a size only

// Everything that decides the colours of a picture.
[[nodiscard]] std::string key_of(const Look& look, Stacking stacking, bool by_filter) {
  std::string key(reinterpret_cast<const char*>(look.bands.data()), look.bands.size() * sizeof(uint32_t));
  for (const uint32_t number :
       {look.nothing, look.dimmed_towards, look.envelope, static_cast<uint32_t>(look.colour_by),
        static_cast<uint32_t>(look.kind), stacking ? static_cast<uint32_t>(*stacking) : 0})
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  if (by_filter) key += look.filter;
  return key;
}

// Colour of a block that the timeline does not show.
[[nodiscard]] uint32_t unranked_of(const Look& look) { return replay::darker(look.envelope, 96); }

}  // namespace

Result<replay::PaintStyle> View::style(const Look& look, const GroupStack* in_groups) {
  replay::PaintStyle style;
  style.palette = {look.bands, look.nothing, look.dimmed_towards, look.envelope};
  if (in_groups != nullptr || pools_) {
    style.rank_of_band = in_groups != nullptr ? in_groups->rank_of_place.span() : pools_->rank_of_band.span();
    style.blocks = static_cast<uint32_t>(ranked().count());
  }
  if (in_groups != nullptr) style.shaded_min_rows = kLeastShaded;
  const bool by_filter = look.kind < 0;
  const auto groups = kinds(look.colour_by);
  if (!groups) return tl::unexpected(groups.error());
  style.group = (*groups)->group.span();
  if (!by_filter && !style.group.empty()) {
    const auto one = lit(**groups, look.kind);
    if (!one) return tl::unexpected(one.error());
    style.matched = *one;
  } else if (by_filter) {
    const auto meant = filtered(look.filter);
    if (!meant) return tl::unexpected(meant.error());
    if (*meant != nullptr) style.matched = (*meant)->matches.matched.span();
  }
  return style;
}

View::Pixels& View::pixels(bool by_group) {
  return **kept<Pixels>(by_group ? "by group" : "", [&]() -> Result<Pixels> { return Pixels(budget_); });
}

Status View::draw(const ColumnGrid& columns, const RowGrid& rows, const Look& look, Stacking stacking,
                  std::span<uint32_t> rgba) {
  const auto found = stack(stacking);
  if (!found) return tl::unexpected(found.error());
  auto painted = style(look, found->groups);
  if (!painted) return tl::unexpected(painted.error());
  // A kind is lit or dimmed as a whole, what a filter means is not.
  painted->groups_are_plain = stacking == look.colour_by && (look.kind >= 0 || painted->matched.empty());
  Pixels& kept = pixels(stacking.has_value());
  if (std::string key = key_of(look, stacking, look.kind < 0); key != kept.look) {
    kept.drawn.forget();
    kept.look = std::move(key);
  }
  const replay::BandColours colours(*painted);
  const auto drawn = kept.drawn.draw(found->timeline, columns, rows, colours);
  if (drawn.size() != rgba.size())
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a picture of {} pixels", rgba.size());
  replay::paint(drawn, columns.count, rows.count, colours, rgba);
  return {};
}

Result<replay::PaintStyle> View::style_of_blocks(const Look& look) {
  auto painted = style(look);
  if (!painted) return painted;
  painted->rank_of_band = {};
  if (kind_ == Bands::segments) painted->group = {}, painted->matched = {};
  return painted;
}

Result<replay::StateRects> View::draw_state(int32_t event, const replay::StateWindow& window,
                                            const Look& look) {
  const auto states = device_->states();
  if (!states) return tl::unexpected(states.error());
  const auto painted = style_of_blocks(look);
  if (!painted) return tl::unexpected(painted.error());
  const replay::BandColours colours(*painted);
  return (*states)->layout(event, window, &colours, unranked_of(look));
}

Result<View::SketchedState> View::sketch_state(int32_t event, const replay::StateWindow& window,
                                               const Look& look) {
  const auto sketch = replay::sketch_state(device_->replayed(), event);
  if (!sketch) return tl::unexpected(sketch.error());
  const auto painted = style_of_blocks(look);
  if (!painted) return tl::unexpected(painted.error());
  const replay::BandColours colours(*painted);
  Budget& budget = device_->recording().budget;
  replay::MemoryAt memory(sketch->history, budget);
  replay::StateLayout layout(budget);
  if (!memory.go_to(-1) || !layout.pack(memory))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a sketch of the state");
  const replay::StatePaint paint{colours, sketch->rank_of_block.span(), unranked_of(look)};
  SketchedState drawn{layout.rects(memory, window, &paint), {}};
  drawn.ranks.reserve(drawn.rects.row.size());
  for (size_t i = 0; i < drawn.rects.row.size(); ++i) {
    int32_t& row = drawn.rects.row[i];
    const bool is_block = row >= 0 && drawn.rects.kind[i] != static_cast<uint8_t>(replay::StateKind::segment);
    drawn.ranks.push_back(is_block ? sketch->rank_of_block[static_cast<size_t>(row)] : -1);
    row = -1;  // rows of a sketch mean nothing to other questions
  }
  return drawn;
}

Status View::colour_map(std::span<const int32_t> map, const Look& look, std::span<uint32_t> rgba) {
  const auto painted = style_of_blocks(look);
  if (!painted) return tl::unexpected(painted.error());
  const replay::BandColours colours(*painted);
  for (size_t i = 0; i < map.size(); ++i) {
    const int32_t rank = map[i];
    rgba[i] = rank >= 0                        ? colours.of(static_cast<uint32_t>(rank))
              : rank == replay::kMappedFree    ? look.envelope
              : rank == replay::kUnrankedBlock ? unranked_of(look)
                                               : look.nothing;
  }
  return {};
}

void View::shade_map(const ShadedMap& shaded, const Look& look, std::span<uint32_t> rgba) {
  const auto columns = static_cast<size_t>(std::max(shaded.columns, 1));
  const size_t of_region = columns * static_cast<size_t>(std::max(shaded.height, 1));
  const auto most = static_cast<float>(shaded.shades.size() - 1);
  for (size_t i = 0; i < shaded.map.size(); ++i) {
    const int32_t rank = shaded.map[i];
    if (rank == replay::kMappedFree) {
      const float share = shaded.free_shares[i / of_region * columns + i % columns];
      rgba[i] = shaded.shades[static_cast<size_t>(std::lround(share * most))];
    } else {
      rgba[i] = rank == replay::kNotMapped ? look.nothing : unranked_of(look);
    }
  }
}

int64_t View::highest_level(const ColumnGrid& columns) const { return timeline_->highest_level(columns); }

Result<analysis::Who> View::who_of(int32_t rank) {
  if (envelope(rank) != nullptr) return analysis::Who();
  if (kind_ == Bands::segments) {
    const auto known = attributes();
    if (!known) return tl::unexpected(known.error());
    return analysis::who_of(recording(), (*known)->stack[rank]);
  }
  const auto index = device_->index();
  if (!index) return tl::unexpected(index.error());
  return analysis::who_of(recording(), analysis::shown_stack(recording(), device_->lives(), **index, rank));
}

BandLabel View::placed(const replay::BandPlace& place, const ColumnGrid& columns, const RowGrid& rows) {
  const auto position = [&](int32_t column) {
    return static_cast<double>(columns.first + column) * static_cast<double>(columns.width);
  };
  BandLabel label;
  label.x0 = position(place.column);
  label.x1 = position(place.column + place.columns);
  label.y0 = rows.bottom + place.row * rows.bytes_per_row;
  label.y1 = rows.bottom + (place.row + place.rows) * rows.bytes_per_row;
  return label;
}

Result<BandLabel> View::label_of(int32_t rank, const replay::BandPlace& place, const ColumnGrid& columns,
                                 const RowGrid& rows, const replay::PlaceLimits& limits) {
  BandLabel label = placed(place, columns, rows);
  label.rank = rank;
  const replay::PoolEnvelope* pool = envelope(rank);
  label.size = pool != nullptr ? pool->capacity.at(bands_->events.count) : ranked().size[rank];
  if (pool != nullptr) label.name = name_of(*pool);
  if (place.columns >= kLabelForPlace * limits.columns) {
    const auto who = who_of(rank);
    if (!who) return tl::unexpected(who.error());
    label.who = *who;
  }
  return label;
}

Result<std::vector<BandLabel>> View::labels(const ColumnGrid& columns, const RowGrid& rows, Stacking stacking,
                                            int32_t least_columns, int32_t least_rows) {
  std::vector<BandLabel> labels;
  if (columns.count <= 0 || rows.count <= 0) return labels;
  const replay::PlaceLimits limits{least_columns, least_rows, kMostLabels};
  const auto stacked = stack(stacking);
  if (!stacked) return tl::unexpected(stacked.error());
  if (stacked->groups != nullptr) return group_labels(*stacking, *stacked->groups, columns, rows, limits);
  const auto height = static_cast<size_t>(rows.count);
  const size_t size = static_cast<size_t>(columns.count) * height;
  std::span<const uint32_t> pixels;
  // Which pixels belong to one block alone is the same whatever the look.
  Pixels& mine = this->pixels(false);
  Column<uint32_t>& scratch = mine.scratch;
  const replay::KeptPicture* kept = mine.drawn.with(columns);
  const bool is_kept = kept != nullptr && kept->drawn()->rows.count == rows.count &&
                       kept->drawn()->rows.bottom == rows.bottom &&
                       kept->drawn()->rows.bytes_per_row == rows.bytes_per_row;
  if (is_kept) {
    const auto skipped = static_cast<size_t>(columns.first - kept->drawn()->columns.first);
    pixels = kept->pixels().subspan(skipped * height, size);
  }
  if (!is_kept || pools_) {
    if (!scratch.resize(size, 0))
      return fail(ErrorCode::limit_exceeded, -1, "not enough memory for the words in {} pixels", size);
    scratch.truncate(size);
    if (is_kept) {
      std::copy(pixels.begin(), pixels.end(), scratch.data());
    } else {
      timeline_->draw(columns, rows, scratch.span());
    }
    if (pools_) {  // the pieces of an envelope have room together
      for (uint32_t& pixel : scratch.span()) {
        if (pixel <= replay::kRankMask) pixel = static_cast<uint32_t>(rank_of(static_cast<int32_t>(pixel)));
      }
    }
    pixels = scratch.span();
  }
  for (const replay::BandPlace& place : replay::find_band_places(pixels, rows.count, limits)) {
    auto label = label_of(place.rank, place, columns, rows, limits);
    if (!label) return tl::unexpected(label.error());
    labels.push_back(std::move(*label));
  }
  return labels;
}

}  // namespace gpustrata::session
