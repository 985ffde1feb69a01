// Budget "timeline picture 1600 x 800" (native 1 M / 10 M events: 3 / 10 ms, WebAssembly 5 / 12 ms) and
// "replay index" (10 M / 5 M events/s): lifetimes, index, pictures at four zooms, colouring, pick, outline; the same
// pictures stacked by group, their ratio to those by age.
//
//   timeline_bench [events in millions, default 1] [loop | survivors | tiny | all, default loop]
//
// Plain C++ without a benchmark library, so that the same file runs natively and as WebAssembly in Node:
//   em++ -O3 -msimd128 ... timeline_bench.cpp -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB
// Every picture is checked in some columns against a stack built block by block before times are printed.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/grouped_bands.h"
#include "engine/replay/paint.h"
#include "engine/replay/timeline.h"

namespace {

using namespace gpustrata;
using replay::Axis;
using replay::BlockLives;
using replay::ColumnGrid;
using replay::RowGrid;
using replay::Timeline;

constexpr int32_t kColumns = 1600;
constexpr int32_t kRows = 800;
constexpr int kRuns = 5;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "timeline_bench: %s\n", why);
  std::exit(1);
}

// Processor time: the same on a busy machine.
template <typename F>
double best_ms(F&& question) {
  double best = 1e300;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t start = std::clock();
    question();
    best = std::min(best, static_cast<double>(std::clock() - start) * (1e3 / CLOCKS_PER_SEC));
  }
  return best;
}

// Writes allocs and completed frees, one event each: more blocks per event than a real file has.
class TraceWriter {
 public:
  TraceWriter(model::Recording& recording, size_t events) : events_(recording.events), wanted_(events) {
    if (!events_.reserve(events + 10'000)) stop("no memory for the trace");
  }
  [[nodiscard]] bool full() const { return events_.size_rows() >= wanted_; }
  uint64_t alloc(int64_t size) {
    uint64_t address = next_ += 512;
    if (!reusable_.empty()) {
      address = reusable_.back();
      reusable_.pop_back();
    }
    add(trace::Action::alloc, address, size);
    return address;
  }
  void free(uint64_t address) {
    add(trace::Action::free_completed, address, 0);
    reusable_.push_back(address);
  }
  [[nodiscard]] int64_t random(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  void add(trace::Action action, uint64_t address, int64_t size) {
    const bool ok = events_.action.push_back(action) && events_.address.push_back(address) &&
                    events_.size.push_back(size) && events_.time.push_back(clock_ += 1 + engine_() % 20) &&
                    events_.stack.push_back({}) && events_.context.push_back({}) &&
                    events_.metadata.push_back({}) && events_.stream.push_back({}) &&
                    events_.pool.push_back({});
    if (!ok) stop("no memory for the trace");
  }

  model::EventTable& events_;
  size_t wanted_;
  uint64_t next_ = 0x7f0000000000;
  int64_t clock_ = 1'700'000'000'000'000;
  std::vector<uint64_t> reusable_;
  std::mt19937_64 engine_{20261101};
};

// Training steps: 1500 parameters stay; 1500 activations per step are freed last first; two short-lived
// workspaces per layer operation. `survivor_every`: that many events leave one block behind (0 = none).
void write_loop(TraceWriter& out, size_t survivor_every) {
  std::vector<uint64_t> activations;
  for (int i = 0; i < 1500; ++i) (void)out.alloc(out.random(1 << 10, 16 << 20));
  size_t operations = 0;
  const auto workspace = [&] {
    const uint64_t first = out.alloc(out.random(512, 4 << 20));
    const uint64_t second = out.alloc(out.random(512, 1 << 20));
    out.free(first);
    out.free(second);
    if (survivor_every != 0 && ++operations * 6 % survivor_every < 6) (void)out.alloc(1 << 20);
  };
  while (!out.full()) {
    for (int i = 0; i < 1500 && !out.full(); ++i) {
      activations.push_back(out.alloc(out.random(4 << 10, 8 << 20)));
      workspace();
    }
    while (!activations.empty() && !out.full()) {
      const uint64_t gradient = out.alloc(out.random(4 << 10, 4 << 20));
      workspace();
      out.free(activations.back());
      activations.pop_back();
      out.free(gradient);
    }
  }
}

// 200,000 live blocks of at most 64 KiB, freed in random order.
void write_tiny(TraceWriter& out) {
  std::vector<uint64_t> live;
  while (!out.full()) {
    if (live.size() < 200'000) {
      live.push_back(out.alloc(out.random(512, 64 << 10)));
    } else {
      std::swap(live[static_cast<size_t>(out.random(0, static_cast<int64_t>(live.size()) - 1))], live.back());
      out.free(live.back());
      live.pop_back();
    }
  }
}

// `order`: of the blocks, from the bottom.
std::vector<uint32_t> column_by_hand(const BlockLives& lifetimes, std::span<const int32_t> order,
                                     int32_t event, const RowGrid& rows) {
  std::vector<uint32_t> column(static_cast<size_t>(rows.count), replay::kNothing);
  if (event < -1) return column;
  double offset = 0;
  size_t row = 0;
  for (size_t place = 0; place < order.size(); ++place) {
    const auto rank = static_cast<size_t>(order[place]);
    if (lifetimes.born[rank] > event || lifetimes.freed[rank] <= event) continue;
    const auto size = static_cast<double>(lifetimes.size[rank]);
    offset += size;
    const uint32_t merged = size < rows.bytes_per_row ? replay::kMergedBit : 0;
    while (row < column.size() &&
           rows.bottom + (static_cast<double>(row) + 0.5) * rows.bytes_per_row < offset) {
      column[row++] = static_cast<uint32_t>(place) | merged;
    }
  }
  return column;
}

void check(const BlockLives& lifetimes, std::span<const int32_t> order, const Timeline& timeline,
           const ColumnGrid& columns, const RowGrid& rows, const std::vector<uint32_t>& pixels) {
  for (int32_t c = 0; c < columns.count; c += 123) {
    const int32_t event = timeline.event_of_column(columns.axis, columns.first + c, columns.width);
    const auto expected = column_by_hand(lifetimes, order, event, rows);
    if (!std::equal(expected.begin(), expected.end(),
                    pixels.begin() + static_cast<ptrdiff_t>(c) * rows.count)) {
      stop("a column is not the stack of its event");
    }
  }
}

// Block i is of group i % kGroups: as mixed as they can be.
constexpr int32_t kGroups = 7;

std::vector<int32_t> order_by_group(int32_t blocks) {
  std::vector<int32_t> order;
  for (int32_t group = 0; group < kGroups; ++group)
    for (int32_t rank = group; rank < blocks; rank += kGroups) order.push_back(rank);
  return order;
}

void measure(const char* kind, size_t events) {
  Budget budget(int64_t{7} << 29);
  model::Recording recording(budget);
  {
    TraceWriter out(recording, events);
    if (std::strcmp(kind, "tiny") == 0)
      write_tiny(out);
    else
      write_loop(out, std::strcmp(kind, "survivors") == 0 ? 5000 : 0);
  }
  model::Part& part = recording.parts.emplace_back();
  const auto count = static_cast<int32_t>(recording.events.size_rows());
  part.traces = {{0, {0, count}}};

  const int64_t before_lifetimes = budget.used();
  std::optional<BlockLives> lifetimes;
  const double lifetimes_ms = best_ms([&] {
    lifetimes.reset();
    auto found = replay::find_block_lives(recording, part, 0);
    if (!found) stop(found.error().message.c_str());
    lifetimes.emplace(std::move(*found));
  });
  const int64_t before_index = budget.used();
  std::optional<Timeline> timeline;
  const double index_ms = best_ms([&] {
    timeline.reset();
    auto built = Timeline::build(recording, *lifetimes);
    if (!built) stop(built.error().message.c_str());
    timeline.emplace(std::move(*built));
  });
  const double per_event = 1.0 / count;
  std::printf("%s: %d events, %d blocks, peak %.1f GiB\n", kind, count, lifetimes->count(),
              static_cast<double>(lifetimes->peak_level) / 0x1p30);
  std::printf("  lifetimes %.1f ms (%.1f M events/s, %.1f B/event), index %.1f ms (%.2f B/event)\n",
              lifetimes_ms, count / lifetimes_ms / 1e3,
              static_cast<double>(before_index - before_lifetimes) * per_event, index_ms,
              static_cast<double>(budget.used() - before_index) * per_event);

  std::vector<int32_t> by_age(static_cast<size_t>(lifetimes->count()));
  std::iota(by_age.begin(), by_age.end(), 0);
  const std::vector<int32_t> by_group = order_by_group(lifetimes->count());
  std::vector<uint8_t> group_of(by_age.size());
  for (size_t rank = 0; rank < group_of.size(); ++rank)
    group_of[rank] = static_cast<uint8_t>(rank % static_cast<size_t>(kGroups));
  std::optional<replay::GroupedBands> grouped_bands;
  std::optional<Timeline> grouped;
  const double restack_ms = best_ms([&] {
    grouped.reset();
    auto made = replay::GroupedBands::make(*lifetimes, group_of, static_cast<size_t>(kGroups), budget);
    if (!made) stop(made.error().message.c_str());
    grouped_bands.emplace(std::move(*made));
    auto built = timeline->restacked(*grouped_bands, budget);
    if (!built) stop(built.error().message.c_str());
    grouped.emplace(std::move(*built));
  });
  std::printf("  stacked by group: %.1f ms, %.2f x the index\n", restack_ms, restack_ms / index_ms);

  const std::vector<uint32_t> bands = {0xFFA7794E, 0xFF2C8EF2, 0xFF5957E1, 0xFFB2B776, 0xFF4FA159};
  const replay::BandColours colours({.palette = {.bands = bands}, .group = {}, .matched = {}});
  const std::vector<uint32_t> group_of_rank(group_of.begin(), group_of.end());
  const replay::BandColours group_colours({.palette = {.bands = bands},
                                           .rank_of_band = by_group,
                                           .blocks = static_cast<uint32_t>(by_group.size()),
                                           .group = group_of_rank,
                                           .matched = {},
                                           .shaded_min_rows = 3,
                                           .groups_are_plain = true});
  std::vector<uint32_t> pixels(static_cast<size_t>(kColumns) * kRows);
  std::vector<uint32_t> rgba(pixels.size());
  struct Zoom {
    const char* name;
    double share;
  };
  for (const Zoom& zoom : {Zoom{"whole", 1}, Zoom{"10 %", 0.1}, Zoom{"0.1 %", 0.001}, Zoom{"50 events", 0}}) {
    for (const Axis axis : {Axis::event, Axis::time}) {
      const auto extent = static_cast<double>(timeline->extent(axis));
      const double shown = zoom.share > 0 ? extent * zoom.share : 50 * extent / count;
      ColumnGrid columns{.axis = axis,
                         .first = 0,
                         .width = std::max<int64_t>(1, static_cast<int64_t>(shown / kColumns)),
                         .count = kColumns};
      columns.count =
          std::min(kColumns, static_cast<int32_t>(shown / static_cast<double>(columns.width)) + 1);
      columns.first =
          zoom.share < 1 ? static_cast<int64_t>(extent * 0.6 / static_cast<double>(columns.width)) : 0;
      const auto top = static_cast<double>(timeline->highest_level(columns));
      const RowGrid rows{.bottom = 0, .bytes_per_row = top * 1.05 / kRows, .count = kRows};
      timeline->draw(columns, rows, pixels);
      check(*lifetimes, by_age, *timeline, columns, rows, pixels);
      const double draw_ms = best_ms([&] { timeline->draw(columns, rows, pixels, &colours); });
      const double paint_ms = best_ms([&] { replay::paint(pixels, columns.count, kRows, colours, rgba); });
      replay::Curves curves;
      const double curves_ms = best_ms([&] { curves = timeline->curves(columns); });
      const int32_t event = curves.event[curves.event.size() / 2];
      const double height = static_cast<double>(lifetimes->level_after(event)) * 0.7;
      int32_t picked = -1;
      const double pick_ms = best_ms([&] { picked = timeline->pick(event, height); });
      if (picked < 0) stop("nothing was picked inside the stack");
      double outline_ms = best_ms([&] { (void)timeline->outline(picked, columns); });
      grouped->draw(columns, rows, pixels);
      check(*lifetimes, by_group, *grouped, columns, rows, pixels);
      const double grouped_ms = best_ms([&] { grouped->draw(columns, rows, pixels, &group_colours); });
      std::printf(
          "  %-9s %s axis, %4d columns: draw %6.2f ms, paint %5.2f ms, curves %5.2f ms, pick %6.1f us, "
          "outline %5.2f ms; by group %.2f ms, %.2f x\n",
          zoom.name, axis == Axis::event ? "event" : "time ", columns.count, draw_ms, paint_ms, curves_ms,
          pick_ms * 1e3, outline_ms, grouped_ms, grouped_ms / draw_ms);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double millions = argc > 1 ? std::atof(argv[1]) : 1;
  const char* kind = argc > 2 ? argv[2] : "loop";
  if (!(millions > 0 && millions <= 100)) stop("the number of events must be between 0 and 100 millions");
  bool known = false;
  for (const char* each : {"loop", "survivors", "tiny"}) {
    if (std::strcmp(kind, each) != 0 && std::strcmp(kind, "all") != 0) continue;
    known = true;
    measure(each, static_cast<size_t>(millions * 1e6));
  }
  if (!known) stop("unknown kind of trace");
  return 0;
}
