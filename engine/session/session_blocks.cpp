#include "engine/session/session_parts.h"

#include <fmt/core.h>

#include <utility>

#include "engine/analysis/block_details.h"
#include "engine/analysis/block_name.h"
#include "engine/analysis/pool_id.h"
#include "engine/analysis/stream_numbers.h"
#include "engine/answers/block_details.h"
#include "engine/answers/json_of.h"
#include "engine/answers/parts.h"
#include "engine/base/json_writer.h"
#include "engine/base/units.h"

namespace memstrata::session {

using replay::Axis;

std::string Session::State::name_of(const replay::PoolEnvelope& envelope) const {
  return fmt::format("Private Pool ({},s{})",
                     analysis::pool_text(recording.pools[envelope.pool.index()], ","),
                     view->attributes->number_of(envelope.stream));
}

std::string Session::pick_json(Axis axis, int64_t column, int64_t width, double bytes) const {
  const State& s = *state_;
  if (!s.view) return "null";
  const replay::Bands& lives = s.view->bands();
  const int32_t event = s.view->timeline->event_of_column(axis, column, width);
  if (event < -1) return "null";
  const int32_t rank = s.view->rank_of(s.view->timeline->pick(event, bytes));
  JsonWriter json;
  json.begin_object();
  json.member("event", int64_t{event});
  json.member("time_us", s.time_of(event));
  const int64_t level = lives.level_after(event);
  json.member("level", level);
  json.member("allocated", level - lives.pending.at(event));
  json.member("reserved", lives.reserved.at(event));
  json.member("rank", int64_t{rank});
  if (const replay::PoolEnvelope* envelope = rank >= 0 ? s.view->envelope(rank) : nullptr) {
    const int64_t capacity = envelope->capacity.at(event);
    json.member("name", s.name_of(*envelope));
    json.member("size", capacity);
    json.member("active", capacity - replay::rest_at(s.view->bands(), *envelope, event));
  } else if (rank >= 0) {
    const auto r = static_cast<size_t>(rank);
    const replay::BlockLives& blocks = s.view->lives();
    json.member("name",
                s.view->segments
                    ? analysis::segment_name(s.view->segments->address[r], s.view->segments->version[r])
                    : analysis::block_name(blocks.address(s.recording, rank), blocks.version[r]));
    json.member("size", s.view->ranked().size[r]);
  }
  json.end_object();
  return std::move(json).text();
}

std::string Session::block_place_json(int32_t rank, Axis axis) const {
  const State& s = *state_;
  if (!s.has_rank(rank)) return "null";
  const replay::Bands& lives = s.view->ranked();
  const replay::Timeline& timeline = *s.view->timeline;
  const auto r = static_cast<size_t>(rank);
  const replay::PoolEnvelope* envelope = s.view->envelope(rank);
  const int32_t born = envelope != nullptr ? envelope->born : lives.born[r];
  const int32_t freed = envelope != nullptr ? lives.events.count : lives.freed[r];
  JsonWriter json;
  json.begin_object();
  json.member("from", born < 0 ? int64_t{0} : timeline.position(axis, born));
  json.member("to", freed >= lives.events.count ? timeline.extent(axis) : timeline.position(axis, freed));
  json.member("offset", timeline.offset_of(s.view->band_of(rank), born));
  json.member("size", envelope != nullptr ? envelope->capacity.at(lives.events.count) : lives.size[r]);
  json.end_object();
  return std::move(json).text();
}

std::string Session::block_details_json(int32_t rank) {
  State& s = *state_;
  if (!s.has_rank(rank)) return "null";
  if (s.view->envelope(rank) != nullptr) return s.envelope_details(rank);
  if (s.view->segments) {
    const auto state = open_state();
    if (!state || *state == nullptr) return "null";
    return (*state)
        ->segment_json(s.view->segments->born[static_cast<size_t>(rank)],
                       s.view->segments->range_of_rank[static_cast<size_t>(rank)])
        .value_or("null");
  }
  if (!s.find_index()) return "null";
  return answers::json_of(s.recording,
                          analysis::block_details(s.recording, s.view->lives(), *s.view->index, rank));
}

std::string Session::State::envelope_details(int32_t rank) const {
  const replay::PoolEnvelope& envelope = *view->envelope(rank);
  const int32_t last = view->device->rows.events.count - 1;
  const int64_t capacity = envelope.capacity.at(last);
  JsonWriter json;
  json.begin_object();
  json.member("rank", rank);
  json.member("name", name_of(envelope));
  json.key("pool");
  answers::pool_to_json(json, recording, envelope.pool);
  json.member("stream", view->attributes->number_of(envelope.stream));
  json.member("stream_handle", analysis::handle_text(recording, envelope.stream));
  json.member("capacity", capacity);
  json.member("reserved_final", envelope.reserved.at(last));
  json.member("active_final", capacity - replay::rest_at(view->bands(), envelope, last));
  json.member("peak_active", envelope.peak_active);
  json.member("blocks", envelope.blocks);
  json.member("born_event", envelope.born);
  json.member("text", fmt::format("{}: capacity {}", name_of(envelope), size_text(capacity)));
  json.end_object();
  return std::move(json).text();
}

int64_t Session::position(Axis axis, int32_t event) const {
  return state_->view ? state_->view->timeline->position(axis, event) : 0;
}

}  // namespace memstrata::session
