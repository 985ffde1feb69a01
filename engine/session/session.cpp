#include "engine/session/session.h"

#include <optional>
#include <utility>

#include "engine/analysis/block_details.h"
#include "engine/analysis/summary.h"
#include "engine/base/json_writer.h"
#include "engine/io/any_reader.h"
#include "engine/model/recording.h"
#include "engine/replay/lifetimes.h"
#include "engine/replay/paint.h"
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
    std::optional<replay::Lifetimes> of_blocks;  // where the bands are segments
    Column<int32_t> range_of_rank;               // the same: rows of StateHistory::ranges
    std::unique_ptr<StateView> state;            // refers to what is above
    std::optional<analysis::Matches> matches;
  };

  [[nodiscard]] bool has_rank(int32_t rank) const {
    return view && rank >= 0 && rank < view->lifetimes.block_count();
  }
  [[nodiscard]] const model::Snapshot& view_snapshot() const { return view->snapshot; }
  [[nodiscard]] std::optional<int64_t> time_of(int32_t event) const {
    if (event < 0 || event >= view->lifetimes.events.count) return std::nullopt;
    const int64_t time = recording.events.time_us[static_cast<size_t>(view->lifetimes.events.first + event)];
    if (time == model::kNoTime) return std::nullopt;
    return time;
  }

  Budget budget;
  model::Recording recording;
  io::AnyReader reader;
  int64_t bytes_read = 0;
  std::unique_ptr<View> view;

  std::vector<uint32_t> bands{0xFFA7794E};
  replay::Palette palette;
  Column<uint32_t> ranks{budget};  // the last picture before and after colouring
  Column<uint32_t> rgba{budget};
};

Session::Session(int64_t budget_bytes) : state_(std::make_unique<State>(budget_bytes)) {}
Session::~Session() = default;

void Session::expect_bytes(int64_t total) { state_->reader.expect_bytes(total); }

std::span<std::byte> Session::writable() { return state_->reader.writable(); }

Status Session::commit(size_t bytes) {
  state_->bytes_read += static_cast<int64_t>(bytes);
  return state_->reader.commit(bytes);
}

Status Session::finish() { return state_->reader.finish(); }

bool Session::done() const { return state_->reader.done(); }

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

Result<std::string> Session::open_bands(int32_t snapshot_index, int32_t device, Bands bands) {
  State& s = *state_;
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
  auto view = std::make_unique<State::View>(
      snapshot, std::move(segments_as_bands ? segments_as_bands->lifetimes : *lifetimes), s.recording.budget);
  if (segments_as_bands) {
    view->of_blocks.emplace(std::move(*lifetimes));
    view->range_of_rank = std::move(segments_as_bands->row_of_rank);
  }
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
  json.member("blocks", int64_t{lives.block_count()});
  json.member("from_start", int64_t{lives.from_start});
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
  State::View& view = *state_->view;
  if (!view.state) {
    auto opened = StateView::open(state_->recording, state_->view_snapshot(),
                                  view.of_blocks ? *view.of_blocks : view.lifetimes);
    if (!opened) return tl::unexpected(opened.error());
    view.state = std::move(*opened);
  }
  return view.state.get();
}

void Session::set_palette(std::span<const uint32_t> bands, uint32_t merged, uint32_t nothing,
                          uint32_t dimmed_towards) {
  State& s = *state_;
  if (!bands.empty()) s.bands.assign(bands.begin(), bands.end());
  s.palette.merged = merged;
  s.palette.nothing = nothing;
  s.palette.dimmed_towards = dimmed_towards;
}

Result<std::span<const uint32_t>> Session::picture(const ColumnGrid& columns, const RowGrid& rows,
                                                   bool dim_others) {
  State& s = *state_;
  if (!s.view || columns.count <= 0 || rows.count <= 0) return std::span<const uint32_t>{};
  const size_t pixels = static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count);
  if (pixels > kMaxPixels)
    return fail(ErrorCode::limit_exceeded, -1, "a picture of {} pixels is too large", pixels);
  if (!s.ranks.resize(pixels, 0) || !s.rgba.resize(pixels, 0)) {
    return fail(ErrorCode::limit_exceeded, -1, "not enough memory for a picture of {} pixels", pixels);
  }
  s.view->timeline->draw(columns, rows, s.ranks.span());
  replay::PaintStyle style;
  style.palette = s.palette;
  style.palette.bands = s.bands;
  if (dim_others && s.view->matches) style.matched = s.view->matches->matched.span();
  replay::paint(s.ranks.span(), columns.count, rows.count, style, s.rgba.span());
  return std::span<const uint32_t>(s.rgba.span());
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
  const int32_t rank = s.view->timeline->pick(event, bytes);
  JsonWriter json;
  json.begin_object();
  json.member("event", int64_t{event});
  json.member("time_us", s.time_of(event));
  const int64_t level = lives.level_after(event);
  json.member("level", level);
  json.member("allocated", level - lives.pending.at(event));
  json.member("reserved", lives.reserved.at(event));
  json.member("rank", int64_t{rank});
  if (rank >= 0) {
    const auto r = static_cast<size_t>(rank);
    json.member("name", analysis::block_name(lives.address(s.recording, rank), lives.version[r]));
    json.member("size", lives.size[r]);
  }
  json.end_object();
  return std::move(json).text();
}

std::vector<double> Session::outline(int32_t rank, const ColumnGrid& columns) const {
  if (!state_->has_rank(rank)) return {};
  return state_->view->timeline->outline(rank, columns);
}

std::string Session::block_place_json(int32_t rank, Axis axis) const {
  const State& s = *state_;
  if (!s.has_rank(rank)) return "null";
  const replay::Lifetimes& lives = s.view->lifetimes;
  const replay::Timeline& timeline = *s.view->timeline;
  const auto r = static_cast<size_t>(rank);
  const int32_t born = lives.born[r];
  const int32_t freed = lives.freed[r];
  JsonWriter json;
  json.begin_object();
  json.member("from", born < 0 ? int64_t{0} : timeline.position(axis, born));
  json.member("to", freed >= lives.events.count ? timeline.extent(axis) : timeline.position(axis, freed));
  json.member("offset", timeline.offset_of(rank, born));
  json.member("size", lives.size[r]);
  json.end_object();
  return std::move(json).text();
}

std::string Session::block_details_json(int32_t rank) {
  const State& s = *state_;
  if (!s.has_rank(rank)) return "null";
  if (s.view->of_blocks) {
    const auto state = open_state();
    if (!state || *state == nullptr) return "null";
    return (*state)
        ->segment_json(s.view->lifetimes.born[static_cast<size_t>(rank)],
                       s.view->range_of_rank[static_cast<size_t>(rank)])
        .value_or("null");
  }
  return analysis::block_details_json(s.recording, s.view_snapshot(), s.view->lifetimes, rank);
}

int64_t Session::position(Axis axis, int32_t event) const {
  return state_->view ? state_->view->timeline->position(axis, event) : 0;
}

Result<std::string> Session::search(analysis::SearchIn where, std::string_view text) {
  State& s = *state_;
  if (!s.view) return std::string("null");
  s.view->matches.reset();
  JsonWriter json;
  json.begin_object();
  if (text.empty()) {
    json.member("count", int64_t{0});
    json.member("bytes", int64_t{0});
    json.member("first", int64_t{-1});
  } else {
    auto found = analysis::search(s.recording, s.view_snapshot(), s.view->lifetimes, where, text);
    if (!found) return tl::unexpected(found.error());
    json.member("count", static_cast<int64_t>(found->ranks.size()));
    json.member("bytes", found->bytes);
    json.member("first", found->ranks.empty() ? int64_t{-1} : int64_t{found->ranks[0]});
    s.view->matches.emplace(std::move(*found));
  }
  json.end_object();
  return std::move(json).text();
}

int32_t Session::match(int32_t k) const {
  if (!state_->view || !state_->view->matches) return -1;
  const auto& ranks = state_->view->matches->ranks;
  return k >= 0 && static_cast<size_t>(k) < ranks.size() ? ranks[static_cast<size_t>(k)] : -1;
}

}  // namespace memstrata::session
