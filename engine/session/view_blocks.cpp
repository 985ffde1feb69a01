// View: what lies under a point, and all that is known of a band.
#include <fmt/core.h>

#include <utility>

#include "engine/analysis/details/block_details.h"
#include "engine/analysis/device/block_name.h"
#include "engine/analysis/device/pool_id.h"
#include "engine/session/view.h"

namespace gpustrata::session {

using replay::Axis;

std::string View::name_of(const replay::PoolEnvelope& envelope) const {
  const auto known = device_->attributes();  // since the view was opened
  return fmt::format("Private Pool ({},s{})",
                     analysis::pool_text(recording().pools[envelope.pool.index()], ","),
                     known ? (*known)->number_of(envelope.stream) : 0);
}

std::optional<analysis::BandPick> View::state_of(Axis axis, int64_t column, int64_t width) const {
  const int32_t event = timeline_->event_of_column(axis, column, width);
  if (event < -1) return std::nullopt;
  analysis::BandPick pick;
  pick.event = event;
  pick.time_us = time_of(event);
  pick.level = bands_->level_after(event);
  pick.allocated = pick.level - bands_->pending.at(event);
  pick.reserved = bands_->reserved.at(event);
  return pick;
}

Result<std::optional<analysis::BandPick>> View::pick(Axis axis, int64_t column, int64_t width, double bytes,
                                                     Stacking stacking) {
  const auto found = stack(stacking);
  if (!found) return tl::unexpected(found.error());
  auto state = state_of(axis, column, width);
  if (!state) return state;
  analysis::BandPick& pick = *state;
  const int32_t event = pick.event;
  pick.rank = rank_at(*found, found->timeline.pick(event, bytes));
  if (pick.rank < 0) return state;
  if (const replay::PoolEnvelope* pool = envelope(pick.rank); pool != nullptr) {
    pick.name = name_of(*pool);
    pick.size = pool->capacity.at(event);
    pick.active = pick.size - replay::rest_at(*bands_, *pool, event);
  } else {
    const replay::BlockLives& lives = device_->lives();
    const auto r = static_cast<size_t>(pick.rank);
    pick.name = segments_ ? analysis::segment_name(segments_->address[r], segments_->version[r])
                          : analysis::block_name(lives.address(recording(), pick.rank), lives.version[r]);
    pick.size = ranked().size[r];
  }
  return state;
}

Result<analysis::PlaceOfBand> View::place(int32_t rank, Axis axis, Stacking stacking) {
  const auto found = stack(stacking);
  if (!found) return tl::unexpected(found.error());
  const replay::Bands& lives = ranked();
  const replay::PoolEnvelope* pool = envelope(rank);
  const int32_t born = pool != nullptr ? pool->born : lives.born[rank];
  const int32_t freed = pool != nullptr ? lives.events.count : lives.freed[rank];
  return analysis::PlaceOfBand{
      born < 0 ? int64_t{0} : timeline_->position(axis, born),
      freed >= lives.events.count ? timeline_->extent(axis) : timeline_->position(axis, freed),
      found->timeline.offset_of(place_of(*found, rank), born),
      pool != nullptr ? pool->capacity.at(lives.events.count) : lives.size[rank]};
}

Result<View::Edges> View::outline(int32_t rank, Stacking stacking, const replay::ColumnGrid& columns) {
  const auto found = stack(stacking);
  if (!found) return tl::unexpected(found.error());
  const replay::PoolEnvelope* pool = envelope(rank);
  if (pool != nullptr && found->groups != nullptr) {
    // What it keeps lies among that of the others.
    return group_outline(*stacking, found->groups->bands.groups() - 1, columns);
  }
  if (pool != nullptr) {
    // All of it, from its first band to what lies on it.
    const auto edge = [&](int32_t band) {
      return timeline_->edge(band, pool->born, bands_->events.count, columns);
    };
    return Edges{edge(pool->first_band), edge(pool->end_band)};
  }
  Edges edges{found->timeline.outline(place_of(*found, rank), columns), {}};
  const auto size = static_cast<double>(ranked().size[rank]);
  edges.upper.reserve(edges.lower.size());
  for (const double edge : edges.lower) edges.upper.push_back(edge + size);
  return edges;
}

Result<analysis::BandDetails> View::details(int32_t rank) {
  using analysis::BandDetails;
  if (envelope(rank) != nullptr) {
    auto found = envelope_details(rank);
    if (!found) return tl::unexpected(found.error());
    return BandDetails(std::move(*found));
  }
  if (kind_ != Bands::segments) {
    const auto index = device_->index();
    if (!index) return tl::unexpected(index.error());
    return BandDetails(analysis::block_details(recording(), device_->lives(), **index, rank));
  }
  const auto states = device_->states();
  if (!states) return tl::unexpected(states.error());
  auto segment = (*states)->segment(bands_->born[rank], segments_->range_of_rank[rank]);
  if (!segment) return tl::unexpected(segment.error());
  if (!*segment) return BandDetails();
  return BandDetails(analysis::SegmentBand{rank, bands_->size[rank], (*states)->context(), **segment});
}

Result<analysis::EnvelopeDetails> View::envelope_details(int32_t rank) const {
  const replay::PoolEnvelope& pool = *envelope(rank);
  const auto known = device_->attributes();
  if (!known) return tl::unexpected(known.error());
  const int32_t last = bands_->events.count - 1;
  analysis::EnvelopeDetails details;
  details.rank = rank;
  details.name = name_of(pool);
  details.pool = pool.pool;
  details.stream = pool.stream;
  details.stream_number = (*known)->number_of(pool.stream);
  details.capacity = pool.capacity.at(last);
  details.reserved_final = pool.reserved.at(last);
  details.active_final = details.capacity - replay::rest_at(*bands_, pool, last);
  details.peak_active = pool.peak_active;
  details.blocks = pool.blocks;
  details.born_event = pool.born;
  return details;
}

}  // namespace gpustrata::session
