// The engine's Session for JavaScript. No logic here: types are converted, nothing else.
//
// Ownership: a typed array that a method returns is a VIEW of engine memory. It dies with the next call of
// any method, because the heap may grow or the buffer be used again: copy it before anything else runs.
// Numbers cross as doubles: all of them are below 2^53 (kMaxLevel, event counts, microseconds of a
// recording).
#include <emscripten/bind.h>

#include <string>
#include <vector>

#include "engine/session/session.h"
#include "wasm/answer_text.h"

namespace {

using emscripten::typed_memory_view;
using emscripten::val;
using memstrata::Result;
using memstrata::replay::Axis;
using memstrata::wasm::error_text;
using memstrata::wasm::text_of;

struct ColumnGrid {
  int axis;
  double first, width;
  int count;

  [[nodiscard]] memstrata::replay::ColumnGrid to_engine() const {
    return {static_cast<Axis>(axis), static_cast<int64_t>(first), static_cast<int64_t>(width), count};
  }
};

struct RowGrid {
  double bottom, bytesPerRow;
  int count;

  [[nodiscard]] memstrata::replay::RowGrid to_engine() const { return {bottom, bytesPerRow, count}; }
};

// What curves() returns: views of `curves_` below.
struct CurveViews {
  val event = val::null(), highest = val::null(), lowest = val::null(), allocated = val::null(),
      reserved = val::null();
};

// Pixels; see engine/replay/state_layout.h.
struct StateWindow {
  double width, height, zoom, left, top;

  [[nodiscard]] memstrata::replay::StateWindow to_engine() const { return {width, height, zoom, left, top}; }
};

// What stateLayout() returns: views of `rects_` below.
struct RectViews {
  val x = val::null(), y = val::null(), width = val::null(), height = val::null(), kind = val::null(),
      row = val::null();
};

template <typename T>
val view_of(const std::vector<T>& values) {
  return val(typed_memory_view(values.size(), values.data()));
}

class Session {
 public:
  explicit Session(double budget_bytes) : session_(static_cast<int64_t>(budget_bytes)) {}

  void expectBytes(double total) { session_.expect_bytes(static_cast<int64_t>(total)); }
  val writable() {
    const auto buffer = session_.writable();
    return val(typed_memory_view(buffer.size(), reinterpret_cast<unsigned char*>(buffer.data())));
  }
  std::string commit(size_t bytes) { return text_of(session_.commit(bytes)); }
  std::string finish() { return text_of(session_.finish()); }
  bool done() const { return session_.done(); }
  std::string progress() const { return session_.progress_json(); }

  std::string summary(const std::string& file) const { return text_of(session_.summary_json(file)); }
  std::string contents() const { return session_.contents_json(); }
  std::string diagnostics() const { return session_.diagnostics_json(); }
  std::string openView(int snapshot, int device) {
    map_ = {};
    return text_of(session_.open_view(snapshot, device));
  }
  std::string openSegments(int snapshot, int device) {
    map_ = {};
    return text_of(session_.open_segments(snapshot, device));
  }

  std::string openPools(int snapshot, int device) {
    map_ = {};
    return text_of(session_.open_pools(snapshot, device));
  }

  void setPalette(const val& bands, uint32_t nothing, uint32_t dimmed_towards, uint32_t envelope) {
    session_.set_palette(emscripten::convertJSArrayToNumberVector<uint32_t>(bands), nothing, dimmed_towards,
                         envelope);
  }
  val picture(const ColumnGrid& columns, const RowGrid& rows, bool dim_others) {
    const auto pixels = session_.picture(columns.to_engine(), rows.to_engine(), dim_others);
    last_error_ = pixels ? std::string() : error_text(pixels.error());
    if (!pixels) return val(typed_memory_view(0, static_cast<const uint32_t*>(nullptr)));
    return val(typed_memory_view(pixels->size(), pixels->data()));
  }
  std::string labels(const ColumnGrid& columns, int least_columns, int least_rows) const {
    return session_.labels_json(columns.to_engine(), least_columns, least_rows);
  }
  std::string labelFrames(int rank) const { return session_.label_frames_json(rank); }
  std::string lastError() const { return last_error_; }
  CurveViews curves(const ColumnGrid& columns) {
    curves_ = session_.curves(columns.to_engine());
    return {view_of(curves_.event), view_of(curves_.highest), view_of(curves_.lowest),
            view_of(curves_.allocated), view_of(curves_.reserved)};
  }
  double highestLevel(const ColumnGrid& columns) const {
    return static_cast<double>(session_.highest_level(columns.to_engine()));
  }
  std::string pick(int axis, double column, double width, double bytes) const {
    return session_.pick_json(static_cast<Axis>(axis), static_cast<int64_t>(column),
                              static_cast<int64_t>(width), bytes);
  }
  val outline(int rank, const ColumnGrid& columns) {
    outline_ = session_.outline(rank, columns.to_engine());
    return view_of(outline_);
  }
  std::string blockPlace(int rank, int axis) const {
    return session_.block_place_json(rank, static_cast<Axis>(axis));
  }
  std::string blockDetails(int rank) { return session_.block_details_json(rank); }
  double position(int axis, int event) const {
    return static_cast<double>(session_.position(static_cast<Axis>(axis), event));
  }
  std::string filter(const std::string& text) { return text_of(session_.filter(text)); }
  std::string completeFilter(const std::string& text, size_t cursor) {
    return text_of(session_.complete_filter_json(text, cursor));
  }
  std::string colourBy(const std::string& by) { return text_of(session_.colour_by(by)); }
  std::string shares(int event) const { return session_.shares_json(event); }
  void lightKind(int kind) { session_.light_kind(kind); }
  std::string contentHash() const { return session_.content_hash(); }
  int match(int k) const { return session_.match(k); }
  std::string marks() const { return text_of(session_.marks_json()); }

  // The allocator's states. Without a view every answer is "null", empty or -1.
  std::string openState() {
    return ask([](StateView& state) -> Result<std::string> { return state.info_json(); });
  }
  std::string filterEvents(const std::string& actions, double least_size, double most_size, int stream,
                           const std::string& address, const std::string& frame) {
    return ask([&](StateView& state) -> Result<std::string> {
      const auto largest = static_cast<double>(int64_t{1} << 53);
      const auto most = most_size < largest ? static_cast<int64_t>(most_size) : INT64_MAX;
      const auto count =
          state.filter_events({actions, static_cast<int64_t>(least_size), most, stream, address, frame});
      if (!count) return tl::unexpected(count.error());
      return std::to_string(*count);
    });
  }
  std::string eventRows(int first, int count) {
    return ask([&](StateView& state) -> Result<std::string> { return state.event_rows_json(first, count); });
  }
  int rowOfEvent(int event) {
    StateView* state = opened();
    return state == nullptr ? -1 : state->row_of_event(event);
  }
  std::string eventDetails(int event) {
    return ask([&](StateView& state) -> Result<std::string> { return state.event_details_json(event); });
  }
  int findEvent(const std::string& kind, int from, bool backwards) {
    StateView* state = opened();
    return state == nullptr ? -1 : state->find_event(kind, from, backwards);
  }
  std::string stateTotals(int event) {
    return ask([&](StateView& state) { return state.totals_json(event); });
  }
  RectViews stateLayout(int event, const StateWindow& window) {
    rects_ = {};
    last_error_.clear();
    if (StateView* state = opened(); state != nullptr) {
      auto rects = state->layout(event, window.to_engine());
      if (rects) {
        rects_ = std::move(*rects);
      } else {
        last_error_ = error_text(rects.error());
      }
    }
    return {view_of(rects_.x),      view_of(rects_.y),    view_of(rects_.width),
            view_of(rects_.height), view_of(rects_.kind), view_of(rects_.row)};
  }
  std::string statePick(int event, const StateWindow& window, double x, double y) {
    return ask([&](StateView& state) { return state.pick_json(event, window.to_engine(), x, y); });
  }
  std::string stateBlock(int event, int block) {
    return ask([&](StateView& state) { return state.block_json(event, block); });
  }
  std::string stateSegment(int event, int segment) {
    return ask([&](StateView& state) { return state.segment_json(event, segment); });
  }
  std::string statePlace(int event, int block, const StateWindow& window) {
    return ask([&](StateView& state) { return state.place_json(event, block, window.to_engine()); });
  }
  std::string regions(int order, int first, int count) {
    return ask([&](StateView& state) {
      return state.regions_json(static_cast<memstrata::replay::RegionOrder>(order), first, count);
    });
  }
  val addressMap(int order, const ColumnGrid& columns, int first, int count, int height) {
    last_error_.clear();
    std::span<const int32_t> pixels;
    if (StateView* state = opened(); state != nullptr) {
      const auto drawn = state->address_map(static_cast<memstrata::replay::RegionOrder>(order),
                                            columns.to_engine(), first, count, height);
      if (drawn) {
        pixels = *drawn;
      } else {
        last_error_ = error_text(drawn.error());
      }
    }
    map_ = pixels;
    return val(typed_memory_view(pixels.size(), pixels.data()));
  }
  val addressMapColours(bool dim_others) {
    const auto drawn = session_.colours_of(map_, dim_others);
    last_error_ = drawn ? std::string() : error_text(drawn.error());
    const std::span<const uint32_t> colours = drawn.value_or(std::span<const uint32_t>{});
    return val(typed_memory_view(colours.size(), colours.data()));
  }
  int regionOfBlock(int order, int block) {
    StateView* state = opened();
    if (state == nullptr) return -1;
    return state->region_of_block(static_cast<memstrata::replay::RegionOrder>(order), block).value_or(-1);
  }
  int blockOfRank(int rank) {
    StateView* state = opened();
    return state == nullptr ? -1 : state->block_of_rank(rank);
  }
  int rankOfBlock(int block) {
    StateView* state = opened();
    return state == nullptr ? -1 : state->rank_of_block(block);
  }

 private:
  using StateView = memstrata::session::StateView;

  [[nodiscard]] StateView* opened() {
    const auto state = session_.open_state();
    return state ? *state : nullptr;
  }
  template <typename Question>
  std::string ask(const Question& question) {
    const auto state = session_.open_state();
    if (!state) return text_of(Result<std::string>(tl::unexpected(state.error())));
    return *state == nullptr ? std::string("null") : text_of(question(**state));
  }

  memstrata::session::Session session_;
  memstrata::replay::StateRects rects_;
  memstrata::replay::Curves curves_;  // keep what the last views show
  std::vector<double> outline_;
  std::span<const int32_t> map_;  // of the last addressMap(), which only the next one changes
  std::string last_error_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(memstrata) {
  emscripten::value_object<ColumnGrid>("ColumnGrid")
      .field("axis", &ColumnGrid::axis)
      .field("first", &ColumnGrid::first)
      .field("width", &ColumnGrid::width)
      .field("count", &ColumnGrid::count);
  emscripten::value_object<RowGrid>("RowGrid")
      .field("bottom", &RowGrid::bottom)
      .field("bytesPerRow", &RowGrid::bytesPerRow)
      .field("count", &RowGrid::count);
  emscripten::value_object<CurveViews>("Curves")
      .field("event", &CurveViews::event)
      .field("highest", &CurveViews::highest)
      .field("lowest", &CurveViews::lowest)
      .field("allocated", &CurveViews::allocated)
      .field("reserved", &CurveViews::reserved);
  emscripten::value_object<StateWindow>("StateWindow")
      .field("width", &StateWindow::width)
      .field("height", &StateWindow::height)
      .field("zoom", &StateWindow::zoom)
      .field("left", &StateWindow::left)
      .field("top", &StateWindow::top);
  emscripten::value_object<RectViews>("StateRects")
      .field("x", &RectViews::x)
      .field("y", &RectViews::y)
      .field("width", &RectViews::width)
      .field("height", &RectViews::height)
      .field("kind", &RectViews::kind)
      .field("row", &RectViews::row);
  emscripten::class_<Session>("Session")
      .constructor<double>()
      .function("expectBytes", &Session::expectBytes)
      .function("writable", &Session::writable)
      .function("commit", &Session::commit)
      .function("finish", &Session::finish)
      .function("done", &Session::done)
      .function("progress", &Session::progress)
      .function("summary", &Session::summary)
      .function("contents", &Session::contents)
      .function("diagnostics", &Session::diagnostics)
      .function("openView", &Session::openView)
      .function("setPalette", &Session::setPalette)
      .function("picture", &Session::picture)
      .function("labels", &Session::labels)
      .function("labelFrames", &Session::labelFrames)
      .function("lastError", &Session::lastError)
      .function("curves", &Session::curves)
      .function("highestLevel", &Session::highestLevel)
      .function("pick", &Session::pick)
      .function("outline", &Session::outline)
      .function("blockPlace", &Session::blockPlace)
      .function("blockDetails", &Session::blockDetails)
      .function("position", &Session::position)
      .function("filter", &Session::filter)
      .function("completeFilter", &Session::completeFilter)
      .function("colourBy", &Session::colourBy)
      .function("shares", &Session::shares)
      .function("lightKind", &Session::lightKind)
      .function("contentHash", &Session::contentHash)
      .function("match", &Session::match)
      .function("openState", &Session::openState)
      .function("filterEvents", &Session::filterEvents)
      .function("eventRows", &Session::eventRows)
      .function("rowOfEvent", &Session::rowOfEvent)
      .function("eventDetails", &Session::eventDetails)
      .function("findEvent", &Session::findEvent)
      .function("stateTotals", &Session::stateTotals)
      .function("stateLayout", &Session::stateLayout)
      .function("statePick", &Session::statePick)
      .function("stateBlock", &Session::stateBlock)
      .function("stateSegment", &Session::stateSegment)
      .function("statePlace", &Session::statePlace)
      .function("openSegments", &Session::openSegments)
      .function("openPools", &Session::openPools)
      .function("regions", &Session::regions)
      .function("addressMap", &Session::addressMap)
      .function("addressMapColours", &Session::addressMapColours)
      .function("regionOfBlock", &Session::regionOfBlock)
      .function("marks", &Session::marks)
      .function("blockOfRank", &Session::blockOfRank)
      .function("rankOfBlock", &Session::rankOfBlock);
}
