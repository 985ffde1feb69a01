// Random traces of several shapes: the timeline against its naive twin, pixel by pixel.

#include "engine/replay/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/replay/chosen_bands.h"
#include "engine/replay/grouped_bands.h"
#include "engine/replay/kept_picture.h"
#include "tests/property/random.h"
#include "tests/property/timeline_twin.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using trace::Action;

enum class Shape { loop, random, many_tiny, from_start, hostile };
enum class Times { none, steady, bursts, messy };

class TraceMaker {
 public:
  TraceMaker(HandTrace& trace, Random& random, Times times) : trace_(trace), random_(random), times_(times) {}

  void make(Shape shape, int events) {
    switch (shape) {
      case Shape::loop:
        return loop(events);
      case Shape::random:
        return churn(events, 300, 4, 24);
      case Shape::many_tiny:
        return churn(events, events / 4, 0, 9);
      case Shape::from_start:
        return from_start(events);
      case Shape::hostile:
        return hostile(events);
    }
  }

 private:
  struct Live {
    uint64_t address;
    int64_t size;
  };

  int64_t next_time() {
    switch (times_) {
      case Times::none:
        return model::kNoTime;
      case Times::steady:
        return clock_ += random_.whole(1, 3);
      case Times::bursts:
        return clock_ += random_.one_in(50) ? random_.whole(1, 5000) : 0;
      case Times::messy:
        if (random_.one_in(10)) return model::kNoTime;
        clock_ += random_.whole(0, 20);
        return random_.one_in(5) ? clock_ - random_.whole(0, 300) : clock_;
    }
    return 0;
  }
  void add(Action action, uint64_t address, int64_t size) {
    trace_.event(action, address, size, next_time());
  }

  Live alloc(int64_t size) {
    uint64_t address = next_address_ += 512;
    if (!freed_addresses_.empty() && random_.one_in(2)) {
      address = freed_addresses_.front();
      freed_addresses_.pop_front();
    }
    if (random_.one_in(40)) {
      add(random_.one_in(3) ? Action::segment_unmap : Action::segment_map, address,
          random_.whole(0, 1 << 20));
    }
    add(Action::alloc, address, size);
    return {address, size};
  }
  void free(const Live& block) {
    if (random_.one_in(20)) {
      add(Action::free, block.address, block.size);
    } else {
      add(Action::free_requested, block.address, block.size);
      if (random_.one_in(8))
        late_.push_back(block);
      else
        add(Action::free_completed, block.address, block.size);
    }
    if (late_.empty() || late_.back().address != block.address) freed_addresses_.push_back(block.address);
    if (!late_.empty() && random_.one_in(10)) {
      add(Action::free_completed, late_.front().address, late_.front().size);
      freed_addresses_.push_back(late_.front().address);
      late_.pop_front();
    }
  }
  [[nodiscard]] size_t made() const { return trace_.recording.events.size_rows(); }

  // Training: parameters stay, activations are freed last first, a workspace lives for a moment.
  void loop(int events) {
    std::vector<Live> kept, activations;
    for (int i = 0; i < 40; ++i) kept.push_back(alloc(random_.size(10, 20)));
    const int layers = static_cast<int>(random_.whole(5, 60));
    while (made() < static_cast<size_t>(events)) {
      for (int layer = 0; layer < layers; ++layer) {
        activations.push_back(alloc(random_.size(9, 18)));
        const Live workspace = alloc(random_.size(5, 16));
        if (random_.one_in(200))
          kept.push_back(workspace);
        else
          free(workspace);
      }
      while (!activations.empty()) {
        const Live gradient = alloc(random_.size(9, 14));
        free(activations.back());
        activations.pop_back();
        free(gradient);
      }
    }
    final_state(kept, 0);
  }

  void churn(int events, int live_target, int low_bits, int high_bits) {
    std::vector<Live> live;
    while (made() < static_cast<size_t>(events)) {
      const bool grow = static_cast<int>(live.size()) < live_target ? !random_.one_in(4) : random_.one_in(3);
      if (grow || live.empty()) {
        live.push_back(alloc(random_.one_in(30) ? 0 : random_.size(low_bits, high_bits)));
      } else {
        const auto victim = static_cast<size_t>(random_.whole(0, static_cast<int64_t>(live.size()) - 1));
        std::swap(live[victim], live.back());
        free(live.back());
        live.pop_back();
      }
    }
    final_state(live, 20);
  }

  void from_start(int events) {
    std::vector<Live> live;
    for (int i = 0; i < events / 2; ++i) live.push_back({next_address_ += 512, random_.size(3, 12)});
    std::shuffle(live.begin(), live.end(), std::mt19937_64(static_cast<uint64_t>(random_.whole(0, 1 << 30))));
    while (made() < static_cast<size_t>(events) && !live.empty()) {
      if (random_.one_in(3)) live.push_back(alloc(random_.size(3, 12)));
      free(live[live.size() / 2]);
      live.erase(live.begin() + static_cast<ptrdiff_t>(live.size() / 2));
    }
    final_state(live, events / 8);
  }

  void hostile(int events) {
    const int64_t addresses = random_.whole(1, 200);
    const bool completes = !random_.one_in(4);
    std::vector<Live> last;
    while (made() < static_cast<size_t>(events)) {
      const auto address = static_cast<uint64_t>(random_.whole(0, addresses));
      const int64_t size = random_.one_in(10)  ? random_.whole(0, INT64_MAX)
                           : random_.one_in(3) ? 0
                                               : random_.size(0, 50);
      const auto action =
          static_cast<Action>(random_.whole(0, static_cast<int64_t>(Action::first_unknown) + 1));
      if (!completes && trace::completes_free(action)) continue;
      add(action, address, size);
      if (random_.one_in(50)) last.push_back({address, size});
    }
    final_state(last, 30);
  }

  // Blocks that are live at the end, and `unseen` ones that the trace does not know.
  void final_state(const std::vector<Live>& live, int unseen) {
    trace_.segment(0, random_.whole(0, int64_t{1} << 40));
    const auto add_block = [&](uint64_t address, int64_t size) {
      const auto state = static_cast<model::BlockState>(random_.one_in(6) ? random_.whole(0, 3) : 0);
      trace_.block(address, size, random_.one_in(10) ? model::kUnknownSize : size, state);
    };
    for (const Live& block : live) {
      if (!random_.one_in(50)) add_block(block.address, block.size);
    }
    for (int i = 0; i < unseen; ++i) add_block(next_address_ += 512, random_.size(0, 14));
  }

  HandTrace& trace_;
  Random& random_;
  Times times_;
  int64_t clock_ = 1'700'000'000'000'000;
  uint64_t next_address_ = 0x7f0000000000;
  std::deque<uint64_t> freed_addresses_;
  std::deque<Live> late_;
};

struct Case {
  Shape shape;
  Times times;
  int events;
  uint64_t seed;
};

std::string name_of(const Case& c) {
  static constexpr const char* kShapes[] = {"loop", "random", "many_tiny", "from_start", "hostile"};
  static constexpr const char* kTimes[] = {"none", "steady", "bursts", "messy"};
  return std::string(kShapes[static_cast<int>(c.shape)]) + "_" + kTimes[static_cast<int>(c.times)] + "_" +
         std::to_string(c.events) + "_" + std::to_string(c.seed);
}

// GoogleTest would print the bytes, with what lies between the members.
void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

class TimelineTwin : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    random_ = std::make_unique<Random>(c.seed);
    TraceMaker(trace_, *random_, c.times).make(c.shape, c.events);
    ASSERT_TRUE(trace_.ok());
    auto found = trace_.lifetimes();
    ASSERT_TRUE(found.has_value());
    lifetimes_.emplace(std::move(*found));
    twin_.emplace(trace_.recording, trace_.recording.parts[0], HandTrace::kDevice);
    auto built = Timeline::build(trace_.recording, *lifetimes_);
    ASSERT_TRUE(built.has_value());
    timeline_.emplace(std::move(*built));
  }

  // Any zoom, from everything to single events, sometimes reaching outside the recording.
  ColumnGrid random_columns(int32_t count) {
    const Axis axis = random_->one_in(2) ? Axis::event : Axis::time;
    const int64_t extent = std::max<int64_t>(timeline_->extent(axis), 1);
    const double zoom = std::exp(random_->real() * std::log(static_cast<double>(extent) + 1));
    const int64_t width =
        std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(extent) / zoom / count));
    const int64_t last = extent / width;
    return {axis, random_->whole(-count / 4, std::max<int64_t>(last - count * 3 / 4, 0)), width, count};
  }
  RowGrid random_rows(int32_t count) {
    const auto peak = static_cast<double>(std::max<int64_t>(lifetimes_->peak_level, 1));
    switch (random_->whole(0, 5)) {
      case 0:
        return {0, peak / count, count};  // everything
      case 1:
        return {-peak / 3, peak * 2 / count, count};  // from below to above
      case 2:
        return {peak * random_->real(), 0.3 + random_->real(), count};  // rows of about a byte
      case 3:
        return {peak * random_->real(), 1.0, count};
      case 4:
        return {0, peak * 3, count};  // a row higher than everything
      default: {
        const double share = std::exp(-8 * random_->real());
        return {peak * random_->real() * (1 - share), peak * share / count, count};
      }
    }
  }
  std::vector<uint32_t> draw(const ColumnGrid& columns, const RowGrid& rows) const {
    std::vector<uint32_t> pixels(static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count),
                                 0xAAAAAAAA);
    timeline_->draw(columns, rows, pixels);
    return pixels;
  }
  // Wrong pixels of a picture, at most 1 (the first is told in full).
  void expect_picture(const ColumnGrid& columns, const RowGrid& rows) const {
    const std::vector<uint32_t> pixels = draw(columns, rows);
    for (int32_t c = 0; c < columns.count; ++c) {
      const int32_t event = twin_->column(columns.axis, columns.first + c, columns.width).event;
      const std::vector<uint32_t> expected = expected_column(event, rows);
      for (int32_t r = 0; r < rows.count; ++r) {
        ASSERT_EQ(pixels[static_cast<size_t>(c) * static_cast<size_t>(rows.count) + static_cast<size_t>(r)],
                  expected[static_cast<size_t>(r)])
            << "column " << c << " row " << r << " event " << event << " first " << columns.first << " width "
            << columns.width << " axis " << static_cast<int>(columns.axis) << " bottom " << rows.bottom
            << " row of " << rows.bytes_per_row;
      }
    }
  }
  [[nodiscard]] std::vector<uint32_t> expected_column(int32_t event, const RowGrid& rows) const {
    std::vector<uint32_t> column(static_cast<size_t>(rows.count), kNothing);
    if (event < -1) return column;
    // The same as Twin::pixel for every row, but the stack is walked once.
    double bottom = 0;
    for (const int32_t rank : twin_->live_after(event)) {
      const auto size = static_cast<double>(twin_->blocks[static_cast<size_t>(rank)].size);
      for (int32_t r = 0; r < rows.count; ++r) {
        const double centre = rows.bottom + (r + 0.5) * rows.bytes_per_row;
        if (centre < bottom || centre >= bottom + size) continue;
        column[static_cast<size_t>(r)] =
            static_cast<uint32_t>(rank) | (size < rows.bytes_per_row ? kMergedBit : 0);
      }
      bottom += size;
    }
    return column;
  }
  int32_t random_event() { return static_cast<int32_t>(random_->whole(-1, twin_->events - 1)); }

  HandTrace trace_;
  std::unique_ptr<Random> random_;
  std::optional<BlockLives> lifetimes_;
  std::optional<Twin> twin_;
  std::optional<Timeline> timeline_;
};

TEST_P(TimelineTwin, LifetimesAreTheSame) {
  ASSERT_EQ(lifetimes_->count(), static_cast<int32_t>(twin_->blocks.size()));
  EXPECT_EQ(lifetimes_->initial_level, twin_->initial_level);
  int32_t from_start = 0;
  for (int32_t rank = 0; rank < lifetimes_->count(); ++rank) {
    const auto i = static_cast<size_t>(rank);
    const TwinBlock& block = twin_->blocks[i];
    from_start += block.born < 0;
    ASSERT_EQ(lifetimes_->size[i], block.size) << rank;
    ASSERT_EQ(lifetimes_->born[i], block.born) << rank;
    ASSERT_EQ(lifetimes_->freed[i], block.freed) << rank;
    ASSERT_EQ(lifetimes_->version[i], block.version) << rank;
    ASSERT_EQ(lifetimes_->address(trace_.recording, rank), block.address) << rank;
    if (block.born < 0)
      ASSERT_EQ(lifetimes_->source[i], block.source) << rank;
    else
      ASSERT_EQ(lifetimes_->rank_born_at(block.born), rank);
  }
  EXPECT_EQ(lifetimes_->from_start, from_start);
  int64_t peak = twin_->initial_level;
  int32_t peak_event = -1;
  for (int32_t event = 0; event < twin_->events; ++event) {
    const auto i = static_cast<size_t>(event);
    ASSERT_EQ(lifetimes_->level[i], twin_->level[i]) << event;
    ASSERT_EQ(lifetimes_->pending.at(event), twin_->pending[i]) << event;
    ASSERT_EQ(lifetimes_->reserved.at(event), twin_->reserved[i]) << event;
    if (twin_->level[i] > peak) {
      peak = twin_->level[i];
      peak_event = event;
    }
  }
  EXPECT_EQ(lifetimes_->reserved.at(-1), twin_->initial_reserved);
  EXPECT_EQ(lifetimes_->peak_level, peak);
  EXPECT_EQ(lifetimes_->peak_event, peak_event);
  EXPECT_EQ(lifetimes_->final_level, twin_->level_after(twin_->events - 1));
}

TEST_P(TimelineTwin, EveryPixelIsTheBlockAtItsCentre) {
  const int pictures = twin_->blocks.size() > 3000 ? 12 : 40;
  for (int i = 0; i < pictures && !HasFatalFailure(); ++i) {
    expect_picture(random_columns(static_cast<int32_t>(random_->whole(1, 50))),
                   random_rows(static_cast<int32_t>(random_->whole(1, 90))));
  }
  // Event after event: nothing is skipped between columns.
  for (int i = 0; i < 3 && !HasFatalFailure(); ++i) {
    expect_picture({Axis::event, random_->whole(0, std::max(twin_->events - 60, 0)), 1, 60}, random_rows(64));
  }
}

TEST_P(TimelineTwin, APartOfAPictureIsTheSameAsTheWhole) {
  for (int i = 0; i < 10; ++i) {
    ColumnGrid columns = random_columns(80);
    const RowGrid rows = random_rows(40);
    const std::vector<uint32_t> whole = draw(columns, rows);
    const auto skipped = static_cast<int32_t>(random_->whole(0, 79));
    columns.first += skipped;
    columns.count = static_cast<int32_t>(random_->whole(1, 80 - skipped));
    const auto begin = whole.begin() + skipped * rows.count;
    ASSERT_EQ(draw(columns, rows), std::vector<uint32_t>(begin, begin + columns.count * rows.count));
  }
}

TEST_P(TimelineTwin, AMergedRowHasTheMeanColourOfItsBytes) {
  const std::vector<uint32_t> bands = {0xFFA7794E, 0xFF2C8EF2, 0xFF5957E1, 0xFFB2B776, 0xFF104FA1};
  std::vector<uint8_t> matched;
  for (size_t rank = 0; rank < twin_->blocks.size(); ++rank) matched.push_back(random_->one_in(3) ? 0 : 1);
  const bool dimmed = random_->one_in(2);
  const BandColours colours(
      {.palette = {.bands = bands},
       .group = {},
       .matched = dimmed ? std::span<const uint8_t>(matched) : std::span<const uint8_t>()});
  int64_t means = 0;
  for (int i = 0; i < 20 && !HasFatalFailure(); ++i) {
    const ColumnGrid columns =
        i % 4 == 0 ? ColumnGrid{Axis::event, random_->whole(0, std::max(twin_->events - 40, 0)), 1, 40}
                   : random_columns(static_cast<int32_t>(random_->whole(1, 40)));
    const RowGrid rows = random_rows(static_cast<int32_t>(random_->whole(1, 60)));
    const std::vector<uint32_t> ranks = draw(columns, rows);
    std::vector<uint32_t> pixels(ranks.size(), 0xDEADBEEF);
    timeline_->draw(columns, rows, pixels, &colours);
    for (int32_t c = 0; c < columns.count && !HasFatalFailure(); ++c) {
      const int32_t event = twin_->column(columns.axis, columns.first + c, columns.width).event;
      for (int32_t r = 0; r < rows.count; ++r) {
        const auto at = static_cast<size_t>(c) * static_cast<size_t>(rows.count) + static_cast<size_t>(r);
        const bool merged = ranks[at] != kNothing && (ranks[at] & kMergedBit) != 0;
        if (!merged || rows.bytes_per_row > 0x1p47) {
          ASSERT_EQ(pixels[at], ranks[at]) << c << " " << r;
          continue;
        }
        ++means;
        ASSERT_TRUE(is_mean(pixels[at])) << c << " " << r << " " << std::hex << pixels[at];
        const double low = rows.bottom + r * rows.bytes_per_row;
        const double high = rows.bottom + (r + 1) * rows.bytes_per_row;
        const auto expected = twin_->mean_colour(
            event, low, high, [&](int32_t rank) { return colours.of(static_cast<uint32_t>(rank)); });
        for (int channel = 0; channel < 3; ++channel) {
          const auto seen = static_cast<double>(pixels[at] >> (8 * channel) & 0xFF);
          ASSERT_NEAR(seen, expected[static_cast<size_t>(channel)], 1) << c << " " << r << " of " << event;
        }
      }
    }
  }
  RecordProperty("means", std::to_string(means));
}

TEST_P(TimelineTwin, AKeptPictureIsTheSameAsANewOne) {
  const std::vector<uint32_t> bands = {0xFFA7794E, 0xFF2C8EF2, 0xFF5957E1};
  const BandColours colours({.palette = {.bands = bands}, .group = {}, .matched = {}});
  KeptPicture kept(trace_.recording.budget);
  ColumnGrid columns = random_columns(60);
  RowGrid rows = random_rows(40);
  for (int i = 0; i < 30; ++i) {
    if (random_->one_in(6)) columns = random_columns(60);
    if (random_->one_in(6)) rows = random_rows(static_cast<int32_t>(random_->whole(1, 40)));
    if (random_->one_in(10)) kept.forget();
    const std::optional<KeptPicture::Drawn> old = kept.drawn();
    columns.first += random_->whole(-70, 70);
    columns.count = static_cast<int32_t>(random_->whole(1, 80));
    std::vector<uint32_t> fresh(static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count));
    timeline_->draw(columns, rows, fresh, &colours);
    const auto pixels = kept.draw(*timeline_, columns, rows, &colours);
    ASSERT_TRUE(std::equal(fresh.begin(), fresh.end(), pixels.begin(), pixels.end())) << i;
    int32_t missing = columns.count;
    if (old && old->columns.axis == columns.axis && old->columns.width == columns.width &&
        old->rows.bottom == rows.bottom && old->rows.bytes_per_row == rows.bytes_per_row &&
        old->rows.count == rows.count) {
      for (int64_t k = columns.first; k < columns.first + columns.count; ++k)
        missing -= k >= old->columns.first && k < old->columns.first + old->columns.count ? 1 : 0;
    }
    ASSERT_EQ(kept.columns_drawn(), missing) << i;
  }
}

TEST_P(TimelineTwin, CurvesAreTheExtremesOfTheirColumns) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (int i = 0; i < 20; ++i) {
    const ColumnGrid columns = random_columns(40);
    const Curves curves = timeline_->curves(columns);
    double highest = 0;
    for (int32_t c = 0; c < columns.count; ++c) {
      const auto at = static_cast<size_t>(c);
      TwinColumn expected = twin_->column(columns.axis, columns.first + c, columns.width);
      if (expected.event == -2)
        expected.highest = expected.lowest = expected.allocated = expected.reserved = NAN;
      else
        highest = std::max(highest, expected.highest);
      ASSERT_EQ(curves.event[at], expected.event) << c;
      ASSERT_EQ(timeline_->event_of_column(columns.axis, columns.first + c, columns.width), expected.event);
      ASSERT_TRUE(same(curves.highest[at], expected.highest)) << c;
      ASSERT_TRUE(same(curves.lowest[at], expected.lowest)) << c;
      ASSERT_TRUE(same(curves.allocated[at], expected.allocated)) << c;
      ASSERT_TRUE(same(curves.reserved[at], expected.reserved)) << c;
    }
    ASSERT_EQ(static_cast<double>(timeline_->highest_level(columns)), highest);
  }
}

// Bottom to top by group, within one by rank: what a list that is sorted says.
TEST_P(TimelineTwin, ByGroupBlocksLieOnThoseOfLowerGroups) {
  const auto groups = static_cast<size_t>(random_->whole(1, 12));
  Column<uint8_t> group(trace_.recording.budget);
  for (size_t rank = 0; rank < twin_->blocks.size(); ++rank)
    ASSERT_TRUE(group.push_back(static_cast<uint8_t>(random_->whole(0, static_cast<int64_t>(groups) - 1))));
  const auto bands = GroupedBands::make(*lifetimes_, group.span(), groups, trace_.recording.budget);
  ASSERT_TRUE(bands.has_value());
  const auto stacked = timeline_->restacked(*bands, trace_.recording.budget);
  ASSERT_TRUE(stacked.has_value());
  // Ranks from the bottom up.
  const auto stack_after = [&](int32_t event) {
    std::vector<int32_t> live = twin_->live_after(event);
    std::stable_sort(live.begin(), live.end(), [&](int32_t a, int32_t b) {
      return group[static_cast<size_t>(a)] < group[static_cast<size_t>(b)];
    });
    return live;
  };
  const auto size_of = [&](int32_t rank) { return twin_->blocks[static_cast<size_t>(rank)].size; };
  for (int i = 0; i < 6; ++i) {
    const ColumnGrid columns = random_columns(30);
    const RowGrid rows = random_rows(40);
    std::vector<uint32_t> pixels(size_t{30} * 40, 0xAAAAAAAA);
    stacked->draw(columns, rows, pixels);
    const auto wanted = static_cast<int32_t>(random_->whole(0, static_cast<int64_t>(groups) - 1));
    const std::vector<double> lower = stacked->edge(bands->first_of(wanted), -1, twin_->events, columns);
    for (int32_t c = 0; c < columns.count; ++c) {
      const int32_t event = twin_->column(columns.axis, columns.first + c, columns.width).event;
      const std::vector<int32_t> stack = event < -1 ? std::vector<int32_t>() : stack_after(event);
      for (int32_t r = 0; r < rows.count; ++r) {
        const double centre = rows.bottom + (r + 0.5) * rows.bytes_per_row;
        int32_t expected = -1;
        double top = 0;
        for (const int32_t rank : stack) {
          const double bottom = top;
          top += static_cast<double>(size_of(rank));
          if (expected < 0 && centre >= bottom && centre < top) expected = rank;
        }
        const uint32_t pixel = pixels[static_cast<size_t>(c) * 40 + static_cast<size_t>(r)];
        const int32_t found = pixel == kNothing ? -1 : bands->band()[pixel & kRankMask];
        ASSERT_EQ(found, expected) << c << " " << r;
        if (event < -1) continue;
        const int32_t picked = stacked->pick(event, centre);
        ASSERT_EQ(picked < 0 ? -1 : bands->band()[static_cast<size_t>(picked)], expected) << c << " " << r;
        if (picked < 0) continue;
        ASSERT_EQ(bands->group_of(picked), group[static_cast<size_t>(expected)]);
        ASSERT_EQ(bands->place_of(expected), picked);
      }
      if (event < -1) continue;
      double below = 0;
      for (const int32_t rank : stack)
        below += group[static_cast<size_t>(rank)] < wanted ? static_cast<double>(size_of(rank)) : 0.0;
      ASSERT_EQ(lower[static_cast<size_t>(c)], below) << c;
      Column<int32_t> live(trace_.recording.budget);
      ASSERT_TRUE(stacked->live_at(event, live, bands->first_of(wanted), bands->first_of(wanted + 1)));
      std::vector<int32_t> of_group, expected_of_group;
      for (const int32_t place : live) of_group.push_back(bands->band()[static_cast<size_t>(place)]);
      for (const int32_t rank : stack)
        if (group[static_cast<size_t>(rank)] == wanted) expected_of_group.push_back(rank);
      ASSERT_EQ(of_group, expected_of_group);
    }
  }
}

// Two ways to the same colour: by the weight of every block, and by where groups end.
TEST_P(TimelineTwin, WhereBlocksOfAGroupLookAlikeMeansAreTheSame) {
  const auto groups = static_cast<size_t>(random_->whole(1, 12));
  Column<uint8_t> group(trace_.recording.budget);
  std::vector<uint32_t> colour;  // of each rank
  std::vector<uint8_t> lit;
  const uint32_t chosen = static_cast<uint32_t>(random_->whole(0, static_cast<int64_t>(groups) - 1));
  for (size_t rank = 0; rank < twin_->blocks.size(); ++rank) {
    colour.push_back(static_cast<uint32_t>(random_->whole(0, static_cast<int64_t>(groups) - 1)));
    lit.push_back(colour.back() == chosen ? 1 : 0);
    ASSERT_TRUE(group.push_back(static_cast<uint8_t>(colour.back())));
  }
  const auto bands = GroupedBands::make(*lifetimes_, group.span(), groups, trace_.recording.budget);
  ASSERT_TRUE(bands.has_value());
  const auto stacked = timeline_->restacked(*bands, trace_.recording.budget);
  ASSERT_TRUE(stacked.has_value());
  const std::vector<uint32_t> palette = {0xFFA7794E, 0xFF2C8EF2, 0xFF5957E1, 0xFFB2B776, 0xFF104FA1};
  PaintStyle style{.palette = {.bands = palette},
                   .rank_of_band = bands->band(),
                   .blocks = static_cast<uint32_t>(twin_->blocks.size()),
                   .group = colour,
                   .matched = random_->one_in(3) ? std::span<const uint8_t>(lit) : std::span<const uint8_t>(),
                   .shaded_min_rows = 3};
  const BandColours by_weight(style);
  style.groups_are_plain = true;
  const BandColours by_group(style);
  int64_t means = 0;
  for (int i = 0; i < 20; ++i) {
    const ColumnGrid columns =
        i % 4 == 0 ? ColumnGrid{Axis::event, random_->whole(0, std::max(twin_->events - 40, 0)), 1, 40}
                   : random_columns(static_cast<int32_t>(random_->whole(1, 40)));
    const RowGrid rows = random_rows(static_cast<int32_t>(random_->whole(1, 60)));
    const size_t size = static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count);
    std::vector<uint32_t> expected(size, 0xDEADBEEF), pixels(size, 0xBEEFDEAD);
    stacked->draw(columns, rows, expected, &by_weight);
    stacked->draw(columns, rows, pixels, &by_group);
    ASSERT_EQ(pixels, expected) << i;
    means += std::count_if(pixels.begin(), pixels.end(), [](uint32_t pixel) { return is_mean(pixel); });
  }
  RecordProperty("means", std::to_string(means));
}

TEST_P(TimelineTwin, ChosenBlocksAreStackedFromZero) {
  std::vector<uint8_t> chosen, others;
  for (size_t rank = 0; rank < twin_->blocks.size(); ++rank) {
    chosen.push_back(random_->one_in(3) ? 1 : 0);
    others.push_back(chosen.back() == 0 ? 1 : 0);
  }
  Budget& budget = trace_.recording.budget;
  const auto some = chosen_bands(*lifetimes_, &*lifetimes_, chosen, budget);
  const auto rest = chosen_bands(*lifetimes_, &*lifetimes_, others, budget);
  ASSERT_TRUE(some.has_value() && rest.has_value());
  int64_t peak = some->initial_level;
  for (int32_t event = -1; event < twin_->events; ++event) {
    // Parts of what all are.
    ASSERT_EQ(some->level_after(event) + rest->level_after(event), lifetimes_->level_after(event)) << event;
    ASSERT_EQ(some->pending.at(event) + rest->pending.at(event), lifetimes_->pending.at(event)) << event;
    ASSERT_EQ(some->reserved.at(event), lifetimes_->reserved.at(event)) << event;
    peak = std::max(peak, some->level_after(event));
  }
  EXPECT_EQ(some->peak_level, peak);
  EXPECT_EQ(some->level_after(some->peak_event), peak);
  const auto timeline = Timeline::build(trace_.recording, *some);
  ASSERT_TRUE(timeline.has_value());
  for (int i = 0; i < 20; ++i) {
    const int32_t event = random_event();
    int64_t level = 0;
    for (const int32_t rank : twin_->live_after(event)) {
      const auto at = static_cast<size_t>(rank);
      if (chosen[at] == 0) continue;
      if (twin_->blocks[at].size > 0 && random_->one_in(30)) {
        ASSERT_EQ(timeline->pick(event, static_cast<double>(level)), rank);
      }
      level += twin_->blocks[at].size;
    }
    ASSERT_EQ(some->level_after(event), level) << event;
    ASSERT_EQ(timeline->pick(event, static_cast<double>(level)), -1);
  }
}

TEST_P(TimelineTwin, PickingFindsWhatThePictureShows) {
  const auto peak = static_cast<double>(lifetimes_->peak_level);
  for (int i = 0; i < 100; ++i) {
    const int32_t event = random_event();
    const double level = random_->one_in(4) ? peak : static_cast<double>(twin_->level_after(event));
    double height = level * (random_->real() * 1.1 - 0.05);
    if (random_->one_in(3)) height = std::floor(height);
    ASSERT_EQ(timeline_->pick(event, height), twin_->block_at(event, height)) << event << " " << height;
  }
  // Exactly at the lower edges of blocks.
  for (int i = 0; i < 10; ++i) {
    const int32_t event = random_event();
    double edge = 0;
    for (const int32_t rank : twin_->live_after(event)) {
      const auto size = static_cast<double>(twin_->blocks[static_cast<size_t>(rank)].size);
      if (size > 0 && (random_->one_in(40) || rank % 64 < 2)) {
        ASSERT_EQ(timeline_->pick(event, edge), rank);
      }
      edge += size;
    }
    ASSERT_EQ(timeline_->pick(event, edge), -1);
  }
}

TEST_P(TimelineTwin, OffsetsAreTheBytesBelow) {
  if (twin_->blocks.empty()) GTEST_SKIP() << "no blocks";
  const auto last = static_cast<int64_t>(twin_->blocks.size()) - 1;
  for (int i = 0; i < 100; ++i) {
    const int32_t event = random_event();
    const auto rank = static_cast<int32_t>(random_->whole(0, last));
    ASSERT_EQ(timeline_->offset_of(rank, event), twin_->bytes_below(rank, event)) << rank << " " << event;
  }
  for (int i = 0; i < 15; ++i) {
    const ColumnGrid columns = random_columns(30);
    const auto rank = static_cast<int32_t>(random_->whole(0, last));
    const TwinBlock& block = twin_->blocks[static_cast<size_t>(rank)];
    const std::vector<double> edge = timeline_->outline(rank, columns);
    for (int32_t c = 0; c < columns.count; ++c) {
      const int32_t event = twin_->event_in_life(columns.axis, columns.first + c, columns.width, block);
      if (event == -2) {
        ASSERT_TRUE(std::isnan(edge[static_cast<size_t>(c)])) << c;
      } else {
        ASSERT_EQ(edge[static_cast<size_t>(c)], static_cast<double>(twin_->bytes_below(rank, event))) << c;
      }
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> list;
  uint64_t seed = 20261101;
  int times = 0;  // goes round, so that every shape meets all kinds
  for (const Shape shape :
       {Shape::loop, Shape::random, Shape::many_tiny, Shape::from_start, Shape::hostile}) {
    for (const int events : {3, 60, 400, 400, 3000, 3000}) {
      list.push_back({shape, static_cast<Times>(times++ % 4), events, ++seed});
    }
    list.push_back({shape, Times::bursts, 30'000, ++seed});  // several nodes of 4096 blocks
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Traces, TimelineTwin, testing::ValuesIn(cases()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace gpustrata::replay
