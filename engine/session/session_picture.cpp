#include "engine/session/session_parts.h"

#include <algorithm>
#include <utility>

#include "engine/analysis/block_details.h"
#include "engine/answers/block_label.h"
#include "engine/base/json_writer.h"
#include "engine/replay/band_places.h"

namespace memstrata::session {

using replay::ColumnGrid;
using replay::RowGrid;

namespace {
constexpr size_t kMaxPixels = size_t{8192} * 4320;  // an 8K screen and then some; 8 bytes for each
}  // namespace

replay::PaintStyle Session::State::style(bool dim_others) const {
  replay::PaintStyle style;
  style.palette = palette;
  style.palette.bands = bands;
  if (view->pools) {
    style.rank_of_band = view->pools->rank_of_band.span();
    style.blocks = static_cast<uint32_t>(view->ranked().count());
  }
  if (view->groups) style.group = view->groups->group.span();
  if (dim_others && view->lit) {
    style.matched = view->lit->span();
  } else if (dim_others && view->matches) {
    style.matched = view->matches->matched.span();
  }
  return style;
}

void Session::set_palette(std::span<const uint32_t> bands, uint32_t nothing, uint32_t dimmed_towards,
                          uint32_t envelope) {
  State& s = *state_;
  s.drawn.forget();
  if (!bands.empty()) s.bands.assign(bands.begin(), bands.end());
  s.palette.nothing = nothing;
  s.palette.dimmed_towards = dimmed_towards;
  s.palette.envelope = envelope;
}

Result<std::span<const uint32_t>> Session::picture(const ColumnGrid& columns, const RowGrid& rows,
                                                   bool dim_others) {
  State& s = *state_;
  if (!s.view || columns.count <= 0 || rows.count <= 0) return std::span<const uint32_t>{};
  const size_t pixels = static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count);
  if (pixels > kMaxPixels)
    return fail(ErrorCode::limit_exceeded, -1, "a picture of {} pixels is too large", pixels);
  const replay::BandColours colours(s.style(dim_others));
  if (dim_others != s.drawn_dimmed) s.drawn.forget();
  s.drawn_dimmed = dim_others;
  const auto drawn = s.drawn.draw(*s.view->timeline, columns, rows, colours);
  if (drawn.size() != pixels || !s.rgba.resize(std::max(pixels, s.rgba.size()), 0)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a picture of {} pixels", pixels);
  }
  s.rgba.truncate(pixels);
  replay::paint(drawn, columns.count, rows.count, colours, s.rgba.span());
  return std::span<const uint32_t>(s.rgba.span());
}

Result<std::span<const uint32_t>> Session::colours_of(std::span<const int32_t> map, bool dim_others) {
  State& s = *state_;
  if (!s.view) return std::span<const uint32_t>{};
  if (!s.map_rgba.resize(std::max(map.size(), s.map_rgba.size()), 0))
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a map of {} pixels", map.size());
  replay::PaintStyle style = s.style(dim_others);
  style.rank_of_band = {};                                     // pixels are ranks
  if (s.view->segments) style.group = {}, style.matched = {};  // those of segments
  const replay::BandColours colours(style);
  for (size_t i = 0; i < map.size(); ++i) {
    const int32_t rank = map[i];
    s.map_rgba[i] = rank >= 0                        ? colours.of(static_cast<uint32_t>(rank))
                    : rank == replay::kMappedFree    ? s.palette.envelope
                    : rank == replay::kUnrankedBlock ? replay::darker(s.palette.envelope, 96)
                                                     : s.palette.nothing;
  }
  return s.map_rgba.span().first(map.size());
}

std::string Session::labels_json(const ColumnGrid& columns, int32_t least_columns, int32_t least_rows) const {
  const State& s = *state_;
  const replay::KeptPicture* picture = s.view ? s.drawn.with(columns) : nullptr;
  if (picture == nullptr) return "[]";
  const auto& [drawn, rows] = *picture->drawn();
  const auto height = static_cast<size_t>(rows.count);
  const auto skipped = static_cast<size_t>(columns.first - drawn.first);
  auto pixels = picture->pixels().subspan(skipped * height, static_cast<size_t>(columns.count) * height);
  std::vector<uint32_t> ranks;  // the pieces of an envelope have room together
  if (s.view->pools) {
    ranks.assign(pixels.begin(), pixels.end());
    for (uint32_t& pixel : ranks) {
      if (pixel <= replay::kRankMask)
        pixel = static_cast<uint32_t>(s.view->rank_of(static_cast<int32_t>(pixel)));
    }
    pixels = ranks;
  }
  const auto position = [&](int32_t column) {
    return static_cast<double>(columns.first + column) * static_cast<double>(columns.width);
  };
  JsonWriter json;
  json.begin_array();
  for (const replay::BandPlace& place :
       replay::find_band_places(pixels, rows.count, {least_columns, least_rows, kMostLabels})) {
    json.begin_object();
    json.member("rank", int64_t{place.rank});
    const replay::PoolEnvelope* envelope = s.view->envelope(place.rank);
    json.member("size", envelope != nullptr ? envelope->capacity.at(s.view->device->rows.events.count)
                                            : s.view->ranked().size[static_cast<size_t>(place.rank)]);
    if (envelope != nullptr) json.member("name", s.name_of(*envelope));
    json.member("x0", position(place.column));
    json.member("x1", position(place.column + place.columns));
    json.member("y0", rows.bottom + place.row * rows.bytes_per_row);
    json.member("y1", rows.bottom + (place.row + place.rows) * rows.bytes_per_row);
    json.end_object();
  }
  json.end_array();
  return std::move(json).text();
}

std::string Session::label_frames_json(int32_t rank) const {
  State& s = *state_;
  if (!s.has_rank(rank) || s.view->envelope(rank) != nullptr) return "[]";
  StackId stack;
  if (s.view->segments) {
    if (s.view->attributes) stack = s.view->attributes->stack[static_cast<size_t>(rank)];
  } else if (s.find_index()) {
    stack = analysis::shown_stack(s.recording, s.view->lives(), *s.view->index, rank);
  }
  JsonWriter json;
  answers::label_frames_to_json(json, s.recording, stack);
  return std::move(json).text();
}

replay::Curves Session::curves(const ColumnGrid& columns) const {
  if (!state_->view) return {};
  return state_->view->timeline->curves(columns);
}

int64_t Session::highest_level(const ColumnGrid& columns) const {
  return state_->view ? state_->view->timeline->highest_level(columns) : 0;
}

std::vector<double> Session::outline(int32_t rank, const ColumnGrid& columns) const {
  if (!state_->has_rank(rank)) return {};
  const State::View& view = *state_->view;
  const replay::PoolEnvelope* envelope = view.envelope(rank);
  std::vector<double> lower, upper;
  if (envelope == nullptr) {
    lower = view.timeline->outline(view.band_of(rank), columns);
    const auto size = static_cast<double>(view.ranked().size[static_cast<size_t>(rank)]);
    for (const double edge : lower) upper.push_back(edge + size);
  } else {
    // All of it, from its first band to what lies on it.
    const auto edge = [&](int32_t band) {
      return view.timeline->edge(band, envelope->born, view.device->rows.events.count, columns);
    };
    lower = edge(envelope->first_band);
    upper = edge(envelope->end_band);
  }
  lower.insert(lower.end(), upper.begin(), upper.end());
  return lower;
}

}  // namespace memstrata::session
