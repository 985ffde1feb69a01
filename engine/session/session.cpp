#include "engine/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/analysis/block_attributes.h"
#include "engine/analysis/block_details.h"
#include "engine/analysis/block_filter.h"
#include "engine/analysis/block_groups.h"
#include "engine/analysis/block_label.h"
#include "engine/analysis/filter_completion.h"
#include "engine/analysis/marks.h"
#include "engine/analysis/pool_id.h"
#include "engine/analysis/stream_numbers.h"
#include "engine/analysis/summary.h"
#include "engine/base/content_hash.h"
#include "engine/base/json_writer.h"
#include "engine/base/units.h"
#include "engine/io/any_reader.h"
#include "engine/model/recording.h"
#include "engine/replay/band_places.h"
#include "engine/replay/kept_picture.h"
#include "engine/replay/lifetimes.h"
#include "engine/replay/paint.h"
#include "engine/replay/pool_lifetimes.h"
#include "engine/replay/segment_lifetimes.h"

namespace memstrata::session {

using replay::Axis;
using replay::ColumnGrid;
using replay::RowGrid;

namespace {
constexpr int32_t kMaxOomEvents = 1000;
constexpr size_t kMaxPixels = size_t{8192} * 4320;  // an 8K screen and then some; 8 bytes for each
}  // namespace

struct Session::State {
  explicit State(int64_t budget_bytes) : budget(budget_bytes), recording(budget), reader(recording) {}

  // The timeline of one device. `timeline` refers to `lifetimes`, so a View never moves.
  struct View {
    View(const model::Snapshot& of_device, replay::Lifetimes&& found, Budget& budget)
        : snapshot(of_device), lifetimes(std::move(found)), range_of_rank(budget) {}
    model::Snapshot snapshot;  // of pinned host memory: with the host as its device
    replay::Lifetimes lifetimes;
    std::optional<replay::Timeline> timeline;
    std::optional<replay::Lifetimes> of_blocks;           // where the bands are not just blocks
    Column<int32_t> range_of_rank;                        // of segments: rows of StateHistory::ranges
    std::optional<replay::PoolLifetimes> pools;           // less its `bands`, which are `lifetimes`
    std::optional<analysis::BlockAttributes> attributes;  // asked for by filters and colours
    std::unique_ptr<StateView> state;                     // refers to what is above
    std::optional<analysis::Matches> matches;
    std::optional<analysis::BlockGroups> groups;
    std::optional<Column<uint8_t>> lit;  // of the kind that is lit, as Matches::matched

    // What ranks count: the bands, or the blocks where envelopes are among the bands.
    [[nodiscard]] const replay::Lifetimes& ranked() const { return pools ? *of_blocks : lifetimes; }
    // Null for a block, too.
    [[nodiscard]] const replay::PoolEnvelope* envelope(int32_t rank) const {
      return pools && rank >= of_blocks->block_count()
                 ? &pools->envelopes[static_cast<size_t>(rank - of_blocks->block_count())]
                 : nullptr;
    }
    // The (lowest) band of a rank, and back.
    [[nodiscard]] int32_t band_of(int32_t rank) const {
      if (!pools) return rank;
      const replay::PoolEnvelope* pool = envelope(rank);
      return pool != nullptr ? pool->first_band : pools->band_of_rank[static_cast<size_t>(rank)];
    }
    [[nodiscard]] int32_t rank_of(int32_t band) const {
      return pools && band >= 0 ? pools->rank_of_band[static_cast<size_t>(band)] : band;
    }
  };

  [[nodiscard]] bool has_rank(int32_t rank) const {
    if (!view || rank < 0) return false;
    const size_t envelopes = view->pools ? view->pools->envelopes.size() : 0;
    return static_cast<size_t>(rank) < static_cast<size_t>(view->ranked().block_count()) + envelopes;
  }
  [[nodiscard]] std::string name_of(const replay::PoolEnvelope& envelope) const {
    return fmt::format("Private Pool ({},s{})",
                       analysis::pool_text(recording.pools[envelope.pool.index()], ","),
                       view->attributes->number_of(envelope.stream));
  }
  [[nodiscard]] std::string envelope_details(int32_t rank) const;
  // How bands are painted. It refers to the view.
  [[nodiscard]] replay::PaintStyle style(bool dim_others) const {
    replay::PaintStyle style;
    style.palette = palette;
    style.palette.bands = bands;
    if (view->pools) {
      style.rank_of_band = view->pools->rank_of_band.span();
      style.blocks = static_cast<uint32_t>(view->ranked().block_count());
    }
    if (view->groups) style.group = view->groups->group.span();
    if (dim_others && view->lit) {
      style.matched = view->lit->span();
    } else if (dim_others && view->matches) {
      style.matched = view->matches->matched.span();
    }
    return style;
  }
  [[nodiscard]] const model::Snapshot& view_snapshot() const { return view->snapshot; }
  [[nodiscard]] std::optional<int64_t> time_of(int32_t event) const {
    if (event < 0 || event >= view->lifetimes.events.count) return std::nullopt;
    const int64_t time = recording.events.time_us[static_cast<size_t>(view->lifetimes.events.first + event)];
    if (time == model::kNoTime) return std::nullopt;
    return time;
  }

  // Computed when first asked for.
  [[nodiscard]] Status find_attributes() {
    if (view->attributes) return {};
    if (!view->range_of_rank.empty()) {
      if (Status ready = open_state(); !ready) return ready;
      auto found = analysis::segment_attributes(recording, view->snapshot, view->state->history(),
                                                view->range_of_rank.span());
      if (!found) return tl::unexpected(found.error());
      view->attributes.emplace(std::move(*found));
      return {};
    }
    auto found = analysis::block_attributes(recording, view_snapshot(), view->ranked());
    if (!found) return tl::unexpected(found.error());
    view->attributes.emplace(std::move(*found));
    return {};
  }

  [[nodiscard]] Status open_state() {
    if (view->state) return {};
    auto opened =
        StateView::open(recording, view->snapshot, view->of_blocks ? *view->of_blocks : view->lifetimes);
    if (!opened) return tl::unexpected(opened.error());
    view->state = std::move(*opened);
    return {};
  }

  Budget budget;
  model::Recording recording;
  io::AnyReader reader;
  int64_t bytes_read = 0;
  ContentHash hash;
  std::span<std::byte> room;  // where the caller writes what it commits next
  std::unique_ptr<View> view;

  std::vector<uint32_t> bands{0xFFA7794E};
  replay::Palette palette;
  replay::KeptPictures drawn{budget};  // the last pictures before transposing, and the last one after
  bool drawn_dimmed = false;
  Column<uint32_t> rgba{budget};
  Column<uint32_t> map_rgba{budget};
};

Session::Session(int64_t budget_bytes) : state_(std::make_unique<State>(budget_bytes)) {}
Session::~Session() = default;

void Session::expect_bytes(int64_t total) { state_->reader.expect_bytes(total); }

std::span<std::byte> Session::writable() {
  state_->room = state_->reader.writable();
  return state_->room;
}

Status Session::commit(size_t bytes) {
  state_->bytes_read += static_cast<int64_t>(bytes);
  state_->hash.add(state_->room.first(std::min(bytes, state_->room.size())));
  return state_->reader.commit(bytes);
}

Status Session::finish() { return state_->reader.finish(); }

bool Session::done() const { return state_->reader.done(); }

std::string Session::content_hash() const { return fmt::format("{:016x}", state_->hash.value()); }

std::string Session::progress_json() const {
  JsonWriter json;
  json.begin_object();
  json.member("bytes", state_->bytes_read);
  json.member("events", static_cast<int64_t>(state_->recording.events.size_rows()));
  json.member("heap", state_->budget.used());
  json.end_object();
  return std::move(json).text();
}

Result<std::string> Session::summary_json(std::string_view file) const {
  return analysis::summary_json(state_->recording, file);
}

std::string Session::contents_json() const {
  const model::Recording& recording = state_->recording;
  JsonWriter json;
  int32_t best_snapshot = -1;
  int32_t best_device = -1;
  int32_t best_events = -1;
  json.begin_object();
  json.member("format", std::string_view(recording.format));
  json.key("snapshots");
  json.begin_array();
  for (size_t i = 0; i < recording.snapshots.size(); ++i) {
    const model::Snapshot& snapshot = recording.snapshots[i];
    json.begin_object();
    json.member("name", std::string_view(snapshot.name));
    json.key("devices");
    json.begin_array();
    for (const int32_t device : snapshot.devices(recording.segments)) {
      int64_t segments = 0;
      for (int32_t row = snapshot.segments.first; row < snapshot.segments.end(); ++row) {
        segments += recording.segments.device[static_cast<size_t>(row)] == device ? 1 : 0;
      }
      const int32_t events = snapshot.events_of(device).count;
      if (events > best_events) {
        best_events = events;
        best_snapshot = static_cast<int32_t>(i);
        best_device = device;
      }
      json.begin_object();
      json.member("device", int64_t{device});
      json.member("events", int64_t{events});
      json.member("segments", segments);
      json.end_object();
    }
    if (snapshot.host_segments.count > 0 || snapshot.host_events.count > 0) {
      json.begin_object();
      json.member("device", replay::kHostDevice);
      json.member("events", snapshot.host_events.count);
      json.member("segments", snapshot.host_segments.count);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.key("default");
  if (best_snapshot < 0) {
    json.null();
  } else {
    json.begin_object();
    json.member("snapshot", int64_t{best_snapshot});
    json.member("device", int64_t{best_device});
    json.end_object();
  }
  json.end_object();
  return std::move(json).text();
}

std::string Session::diagnostics_json() const {
  model::Diagnostics diagnostics = state_->recording.diagnostics;
  if (state_->view) analysis::add_device_diagnostics(diagnostics, state_->recording, state_->view->lifetimes);
  if (state_->view && state_->view->state) diagnostics.add_all(state_->view->state->diagnostics());
  JsonWriter json;
  analysis::write_findings(json, analysis::findings(diagnostics));
  return std::move(json).text();
}

Result<std::string> Session::open_view(int32_t snapshot, int32_t device) {
  return open_bands(snapshot, device, Bands::blocks);
}

Result<std::string> Session::open_segments(int32_t snapshot, int32_t device) {
  return open_bands(snapshot, device, Bands::segments);
}

Result<std::string> Session::open_pools(int32_t snapshot, int32_t device) {
  return open_bands(snapshot, device, Bands::pools);
}

Result<std::string> Session::open_bands(int32_t snapshot_index, int32_t device, Bands bands) {
  State& s = *state_;
  s.drawn.forget();
  s.view.reset();
  if (snapshot_index < 0 || static_cast<size_t>(snapshot_index) >= s.recording.snapshots.size()) {
    return fail(ErrorCode::internal, -1, "there is no snapshot {}", snapshot_index);
  }
  const model::Snapshot& in_file = s.recording.snapshots[static_cast<size_t>(snapshot_index)];
  const model::Snapshot snapshot = device == replay::kHostDevice ? replay::host_as_device(in_file) : in_file;
  auto lifetimes = replay::find_lifetimes(s.recording, snapshot, device);
  if (!lifetimes) return tl::unexpected(lifetimes.error());
  std::optional<replay::SegmentLifetimes> segments_as_bands;
  if (bands == Bands::segments) {
    const auto history = replay::undo_to_start(s.recording, snapshot, device);
    if (!history) return tl::unexpected(history.error());
    auto found = replay::segment_lifetimes(s.recording, *history);
    if (!found) return tl::unexpected(found.error());
    segments_as_bands.emplace(std::move(*found));
  }
  std::optional<replay::PoolLifetimes> pools;
  std::optional<analysis::BlockAttributes> attributes;
  if (bands == Bands::pools) {
    auto known = analysis::block_attributes(s.recording, snapshot, *lifetimes);
    if (!known) return tl::unexpected(known.error());
    auto found =
        replay::pool_lifetimes(s.recording, snapshot, *lifetimes, known->pool.span(), known->stream.span());
    if (!found) return tl::unexpected(found.error());
    attributes.emplace(std::move(*known));
    pools.emplace(std::move(*found));
  }
  auto view = std::make_unique<State::View>(snapshot,
                                            std::move(segments_as_bands ? segments_as_bands->lifetimes
                                                      : pools           ? pools->bands
                                                                        : *lifetimes),
                                            s.recording.budget);
  if (bands != Bands::blocks) view->of_blocks.emplace(std::move(*lifetimes));
  if (segments_as_bands) view->range_of_rank = std::move(segments_as_bands->row_of_rank);
  view->pools = std::move(pools);
  view->attributes = std::move(attributes);
  auto timeline = replay::Timeline::build(s.recording, view->lifetimes);
  if (!timeline) return tl::unexpected(timeline.error());
  view->timeline.emplace(std::move(*timeline));
  s.view = std::move(view);

  const replay::Lifetimes& lives = s.view->lifetimes;
  const model::EventTable& events = s.recording.events;
  bool has_stacks = false;
  std::vector<int32_t> ooms;
  for (int32_t event = 0; event < lives.events.count; ++event) {
    const auto row = static_cast<size_t>(lives.events.first + event);
    has_stacks =
        has_stacks || (!events.stack[row].is_none() && s.recording.stacks.leaf(events.stack[row]) >= 0);
    if (events.action[row] == trace::Action::oom && ooms.size() < kMaxOomEvents) ooms.push_back(event);
  }
  int64_t segments = 0;
  for (int32_t row = snapshot.segments.first; row < snapshot.segments.end(); ++row) {
    segments += s.recording.segments.device[static_cast<size_t>(row)] == device ? 1 : 0;
  }
  int64_t reserved_peak = lives.reserved.initial;
  for (const int64_t value : lives.reserved.value) reserved_peak = std::max(reserved_peak, value);

  JsonWriter json;
  json.begin_object();
  json.member("device", int64_t{device});
  json.member("events", int64_t{lives.events.count});
  json.member("blocks", int64_t{s.view->ranked().block_count()});
  json.member("from_start", int64_t{s.view->ranked().from_start});
  if (s.view->pools) json.member("pools", static_cast<int64_t>(s.view->pools->envelopes.size()));
  json.key("peak");
  json.begin_object();
  json.member("bytes", lives.peak_level);
  json.member("event", int64_t{lives.peak_event});
  json.end_object();
  json.member("initial_bytes", lives.initial_level);
  json.member("final_bytes", lives.final_level);
  json.member("reserved_peak", reserved_peak);
  json.member("reserved_final", lives.reserved.at(lives.events.count - 1));
  json.key("extent");
  json.begin_object();
  json.member("event", s.view->timeline->extent(Axis::event));
  const int64_t time_extent = s.view->timeline->extent(Axis::time);
  json.member("time_us", time_extent > 0 ? std::optional(time_extent) : std::nullopt);
  json.end_object();
  std::optional<int64_t> first_time;
  std::optional<int64_t> last_time;
  for (int32_t event = 0; event < lives.events.count && !first_time; ++event) first_time = s.time_of(event);
  for (int32_t event = lives.events.count - 1; event >= 0 && !last_time; --event)
    last_time = s.time_of(event);
  json.member("first_time_us", first_time);
  json.member("last_time_us", last_time);
  json.key("oom_events");
  json.begin_array();
  for (const int32_t event : ooms) json.value(int64_t{event});
  json.end_array();
  json.member("has_stacks", has_stacks);
  json.member("segments", segments);
  json.key("settings");
  if (snapshot.settings_json.is_none()) {
    json.null();
  } else {
    json.raw(s.recording.strings.view(snapshot.settings_json));
  }
  json.end_object();
  return std::move(json).text();
}

Result<StateView*> Session::open_state() {
  if (!state_->view) return nullptr;
  if (const Status ready = state_->open_state(); !ready) return tl::unexpected(ready.error());
  return state_->view->state.get();
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
  style.rank_of_band = {};                                                   // pixels are ranks
  if (!s.view->range_of_rank.empty()) style.group = {}, style.matched = {};  // those of segments
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
    json.member("size", envelope != nullptr ? envelope->capacity.at(s.view->lifetimes.events.count)
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
  const State& s = *state_;
  if (!s.has_rank(rank) || s.view->envelope(rank) != nullptr) return "[]";
  if (!s.view->range_of_rank.empty()) {
    const bool known = s.view->attributes.has_value();
    return known ? analysis::label_frames_json(s.recording,
                                               s.view->attributes->stack[static_cast<size_t>(rank)])
                 : "[]";
  }
  return analysis::label_frames_json(s.recording, s.view_snapshot(), s.view->ranked(), rank);
}

replay::Curves Session::curves(const ColumnGrid& columns) const {
  if (!state_->view) return {};
  return state_->view->timeline->curves(columns);
}

int64_t Session::highest_level(const ColumnGrid& columns) const {
  return state_->view ? state_->view->timeline->highest_level(columns) : 0;
}

std::string Session::pick_json(Axis axis, int64_t column, int64_t width, double bytes) const {
  const State& s = *state_;
  if (!s.view) return "null";
  const replay::Lifetimes& lives = s.view->lifetimes;
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
    json.member("active", capacity - replay::rest_at(s.view->lifetimes, *envelope, event));
  } else if (rank >= 0) {
    const replay::Lifetimes& ranked = s.view->ranked();
    const auto r = static_cast<size_t>(rank);
    const uint64_t address = ranked.address(s.recording, rank);
    const bool is_segment = !s.view->range_of_rank.empty();
    json.member("name", is_segment ? analysis::segment_name(address, ranked.version[r])
                                   : analysis::block_name(address, ranked.version[r]));
    json.member("size", ranked.size[r]);
  }
  json.end_object();
  return std::move(json).text();
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
      return view.timeline->edge(band, envelope->born, view.lifetimes.events.count, columns);
    };
    lower = edge(envelope->first_band);
    upper = edge(envelope->end_band);
  }
  lower.insert(lower.end(), upper.begin(), upper.end());
  return lower;
}

std::string Session::block_place_json(int32_t rank, Axis axis) const {
  const State& s = *state_;
  if (!s.has_rank(rank)) return "null";
  const replay::Lifetimes& lives = s.view->ranked();
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
  const State& s = *state_;
  if (!s.has_rank(rank)) return "null";
  if (s.view->envelope(rank) != nullptr) return s.envelope_details(rank);
  if (!s.view->range_of_rank.empty()) {
    const auto state = open_state();
    if (!state || *state == nullptr) return "null";
    return (*state)
        ->segment_json(s.view->lifetimes.born[static_cast<size_t>(rank)],
                       s.view->range_of_rank[static_cast<size_t>(rank)])
        .value_or("null");
  }
  return analysis::block_details_json(s.recording, s.view_snapshot(), s.view->ranked(), rank);
}

std::string Session::State::envelope_details(int32_t rank) const {
  const replay::PoolEnvelope& envelope = *view->envelope(rank);
  const int32_t last = view->lifetimes.events.count - 1;
  const int64_t capacity = envelope.capacity.at(last);
  JsonWriter json;
  json.begin_object();
  json.member("rank", rank);
  json.member("name", name_of(envelope));
  json.key("pool");
  analysis::write_pool(json, recording, envelope.pool);
  json.member("stream", view->attributes->number_of(envelope.stream));
  json.member("stream_handle", analysis::handle_text(recording, envelope.stream));
  json.member("capacity", capacity);
  json.member("reserved_final", envelope.reserved.at(last));
  json.member("active_final", capacity - replay::rest_at(view->lifetimes, envelope, last));
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

Result<std::string> Session::filter(std::string_view text) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  if (const Status ready = s.find_attributes(); !ready) return tl::unexpected(ready.error());
  const replay::Lifetimes& lives = s.view->ranked();
  const int32_t peak = s.view->lifetimes.peak_event;
  auto found = analysis::filter_blocks(s.recording, s.view_snapshot(), lives, *s.view->attributes, text);
  if (!found) return tl::unexpected(found.error());
  int64_t at_peak = 0;
  for (const int32_t rank : found->ranks) {
    const auto r = static_cast<size_t>(rank);
    if (lives.born[r] <= peak && peak < lives.freed[r]) at_peak += lives.size[r];
  }
  JsonWriter json;
  json.begin_object();
  json.member("count", static_cast<int64_t>(found->ranks.size()));
  json.member("bytes", found->bytes);
  json.member("at_peak", at_peak);
  json.member("first", found->ranks.empty() ? int64_t{-1} : int64_t{found->ranks[0]});
  json.end_object();
  s.drawn.forget();
  s.view->matches.reset();
  if (text.find_first_not_of(" \t\n\r") != std::string_view::npos) s.view->matches.emplace(std::move(*found));
  return std::move(json).text();
}

Result<std::string> Session::complete_filter_json(std::string_view text, size_t cursor) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  if (const Status ready = s.find_attributes(); !ready) return tl::unexpected(ready.error());
  const analysis::Completions found =
      analysis::complete_filter(s.recording, s.view->ranked(), *s.view->attributes, text, cursor);
  JsonWriter json;
  json.begin_object();
  json.member("from", static_cast<int64_t>(found.from));
  json.key("items");
  json.begin_array();
  for (const analysis::Completion& item : found.items) {
    json.begin_object();
    json.member("text", item.text);
    json.member("says", item.says);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

Result<std::string> Session::colour_by(std::string_view by) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  const auto wanted = analysis::group_by_name(by);
  if (!wanted) return fail(ErrorCode::internal, -1, "there is no colour by \"{}\"", by);
  if (const Status ready = s.find_attributes(); !ready) return tl::unexpected(ready.error());
  auto groups = analysis::group_blocks(s.recording, s.view->ranked(), *s.view->attributes, *wanted);
  if (!groups) return tl::unexpected(groups.error());
  s.drawn.forget();
  s.view->lit.reset();
  s.view->groups.emplace(std::move(*groups));
  JsonWriter json;
  json.begin_object();
  json.member("by", by);
  json.member("ordered", s.view->groups->ordered);
  json.key("kinds");
  json.begin_array();
  for (const analysis::BlockGroups::Kind& kind : s.view->groups->kinds) {
    json.begin_object();
    json.member("label", kind.label);
    json.member("blocks", kind.blocks);
    json.member("merged", int64_t{kind.merged});
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

std::string Session::shares_json(int32_t event) const {
  const State& s = *state_;
  if (!s.view) return "null";
  const replay::Lifetimes& lives = s.view->ranked();
  event = std::clamp(event, -1, lives.events.count - 1);
  JsonWriter json;
  const auto write = [&](const analysis::Share& share) {
    json.begin_object();
    json.member("bytes", share.bytes);
    json.member("blocks", share.blocks);
    json.end_object();
  };
  json.begin_object();
  json.member("event", int64_t{event});
  json.member("level", s.view->lifetimes.level_after(event));
  json.key("kinds");
  json.begin_array();
  if (s.view->groups) {
    for (const analysis::Share& share : analysis::shares_at(lives, *s.view->groups, event)) write(share);
  }
  json.end_array();
  if (s.view->pools) json.member("unused", s.view->lifetimes.level_after(event) - lives.level_after(event));
  json.key("matched");
  if (s.view->matches) {
    analysis::Share matched;
    for (const int32_t rank : s.view->matches->ranks) {
      const auto r = static_cast<size_t>(rank);
      if (lives.born[r] > event || event >= lives.freed[r]) continue;
      matched.bytes += lives.size[r];
      ++matched.blocks;
    }
    write(matched);
  } else {
    json.null();
  }
  json.end_object();
  return std::move(json).text();
}

void Session::light_kind(int32_t kind) {
  State& s = *state_;
  if (!s.view) return;
  s.drawn.forget();
  s.view->lit.reset();
  if (kind < 0 || !s.view->groups || s.view->groups->group.empty()) return;
  const Column<uint32_t>& group = s.view->groups->group;
  Column<uint8_t> lit(s.budget);
  if (!lit.resize(group.size(), 0)) return;  // then nothing is dimmed
  for (size_t r = 0; r < group.size(); ++r) lit[r] = group[r] == static_cast<uint32_t>(kind) ? 1 : 0;
  s.view->lit.emplace(std::move(lit));
}

Result<std::string> Session::marks_json() const {
  const State& s = *state_;
  if (!s.view) return std::string("null");
  return analysis::marks_json(s.recording, s.view_snapshot(),
                              replay::rows_of(s.view_snapshot(), s.view->lifetimes.device));
}

int32_t Session::match(int32_t k) const {
  if (!state_->view || !state_->view->matches) return -1;
  const auto& ranks = state_->view->matches->ranks;
  return k >= 0 && static_cast<size_t>(k) < ranks.size() ? ranks[static_cast<size_t>(k)] : -1;
}

}  // namespace memstrata::session
