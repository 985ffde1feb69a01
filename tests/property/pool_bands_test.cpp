// Random traces with private pools: the envelopes and their picture against a list that is changed event by
// event, as plainly as possible.

#include "engine/replay/pool_bands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "engine/analysis/device/block_attributes.h"
#include "engine/replay/timeline.h"
#include "tests/property/random.h"
#include "tests/unit/numbers.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using trace::Action;

constexpr uint64_t kArea = 0x1000000;  // of one pool and stream

using Key = std::tuple<int64_t, int64_t, int64_t>;  // graph, user, stream

// Area 0 and 1 are default memory, the others private: (0, 1) on two streams, (0, 2), (7, 0).
constexpr std::array<Key, 6> kKeys = {{{0, 0, 0}, {0, 0, 64}, {0, 1, 0}, {0, 1, 64}, {0, 2, 0}, {7, 0, 64}}};

bool is_private(const Key& key) { return std::get<0>(key) != 0 || std::get<1>(key) != 0; }

struct Story {
  Story(uint64_t seed, int events, bool pools_in_events) : random(seed) {
    struct Live {
      size_t area;
      uint64_t address;
      int64_t size;
    };
    std::vector<Live> live;
    std::vector<Live> segments;
    uint64_t next = 0x200;
    const auto add = [&](Action action, const Live& what) {
      hand.event(action, what.address, what.size);
      const auto& [graph, user, stream] = kKeys[what.area];
      hand.recording.events.stream.back() = hand.recording.stream_of(stream);
      if (pools_in_events && !random.one_in(10))
        hand.recording.events.pool.back() = hand.recording.pool_of({graph, user});
    };
    const auto somewhere = [&] { return static_cast<size_t>(random.whole(0, kKeys.size() - 1)); };
    const auto fresh = [&](int64_t most) {
      const size_t area = somewhere();
      return Live{area, kBase + area * kArea + (next += 0x200),
                  random.one_in(20) ? 0 : random.whole(1, most)};
    };
    // Some are older than the trace.
    for (int i = 0; i < 12; ++i) live.push_back(fresh(3000));
    while (static_cast<int>(hand.recording.events.size_rows()) < events) {
      const int64_t what = random.whole(0, 9);
      if (what == 0) {
        segments.push_back(fresh(9000));
        add(random.one_in(2) ? Action::segment_alloc : Action::segment_map, segments.back());
      } else if (what == 1 && !segments.empty()) {
        const auto i = static_cast<size_t>(random.whole(0, static_cast<int64_t>(segments.size()) - 1));
        add(random.one_in(2) ? Action::segment_free : Action::segment_unmap, segments[i]);
        segments.erase(segments.begin() + static_cast<ptrdiff_t>(i));
      } else if (what < 6 || live.empty()) {
        if (!live.empty() && random.one_in(30)) {
          add(Action::alloc, live.back());  // at a live address
        } else {
          live.push_back(fresh(3000));
          add(Action::alloc, live.back());
        }
      } else {
        const auto i = static_cast<size_t>(random.whole(0, static_cast<int64_t>(live.size()) - 1));
        add(Action::free_requested, live[i]);
        add(Action::free_completed, live[i]);
        live.erase(live.begin() + static_cast<ptrdiff_t>(i));
      }
    }
    // One large segment around each area, as large as the pool has it at the end, more or less.
    for (size_t area = 0; area < kKeys.size(); ++area) {
      if (random.one_in(6)) continue;
      hand.segment(kBase + area * kArea, static_cast<int64_t>(kArea) - 1);
      hand.recording.segments.total_size.back() =
          random.one_in(3) ? static_cast<int64_t>(kArea) - 1 : random.whole(0, 20000);
      const auto& [graph, user, stream] = kKeys[area];
      hand.recording.segments.pool.back() = hand.recording.pool_of({graph, user});
      hand.recording.segments.stream.back() = hand.recording.stream_of(stream);
      for (const Live& block : live) {
        if (block.area == area && !random.one_in(8))
          hand.block(block.address, block.size, block.size, model::BlockState::active_allocated);
      }
    }
  }
  HandTrace hand;
  Random random;
};

// The segment around an address: the one that begins last at or before it.
int32_t segment_around(const model::Recording& recording, uint64_t address) {
  int32_t best = -1;
  for (size_t i = 0; i < recording.segments.size_rows(); ++i) {
    if (recording.segments.address[i] > address) continue;
    if (best < 0 || recording.segments.address[i] >= recording.segments.address[static_cast<size_t>(best)])
      best = static_cast<int32_t>(i);
  }
  if (best < 0) return -1;
  const auto b = static_cast<size_t>(best);
  return address - recording.segments.address[b] < static_cast<uint64_t>(recording.segments.total_size[b])
             ? best
             : -1;
}

// One thing of the stack: a default block, or an envelope with its blocks.
struct Item {
  int32_t rank = -1;
  std::optional<Key> envelope;
  std::vector<int32_t> blocks;
};

struct Envelope {
  int64_t active = 0, reserved = 0, capacity = 0;
};

class NaiveStack {
 public:
  NaiveStack(const model::Recording& recording, const BlockLives& blocks) : r_(recording), blocks_(blocks) {
    // Reserved at the start, from the end.
    for (size_t i = 0; i < r_.segments.size_rows(); ++i) {
      const Key key = key_of(r_.segments.pool[i], r_.segments.stream[i]);
      if (is_private(key)) envelopes_[key].reserved += r_.segments.total_size[i];
    }
    for (int32_t event = 0; event < blocks_.events.count; ++event) {
      const Key key = key_of_event(event);
      if (is_private(key) && change(event) != 0) envelopes_[key].reserved -= change(event);
    }
    for (auto& [key, envelope] : envelopes_) envelope.reserved = std::max(envelope.reserved, int64_t{0});
  }

  // After one event after another, -1 first. `order`: envelopes from the start, from bottom to top.
  void start(const std::vector<Key>& order) {
    for (const Key& key : order) stack_.push_back({-1, key, {}});
    for (int32_t rank = 0; rank < blocks_.from_start; ++rank) add(rank);
    settle();
  }
  void step(int32_t event) {
    for (int32_t rank = 0; rank < blocks_.count(); ++rank) {
      if (blocks_.freed[static_cast<size_t>(rank)] == event) remove(rank);
    }
    for (int32_t rank = blocks_.from_start; rank < blocks_.count(); ++rank) {
      if (blocks_.born[static_cast<size_t>(rank)] == event) add(rank);
    }
    const Key key = key_of_event(event);
    if (is_segment(event) && is_private(key)) {
      item_of(key);
      envelopes_[key].reserved = std::max(envelopes_[key].reserved + change(event), int64_t{0});
    }
    settle();
  }
  [[nodiscard]] int64_t level() const {
    int64_t level = 0;
    for (const Item& item : stack_)
      level += item.envelope ? envelopes_.at(*item.envelope).capacity : size(item.rank);
    return level;
  }
  [[nodiscard]] int64_t capacity(const Key& key) const {
    const auto found = envelopes_.find(key);
    return found == envelopes_.end() ? 0 : found->second.capacity;
  }
  // Bytes and whose they are, from the bottom.
  [[nodiscard]] std::vector<std::pair<int64_t, std::variant<int32_t, Key>>> slices() const {
    std::vector<std::pair<int64_t, std::variant<int32_t, Key>>> slices;
    for (const Item& item : stack_) {
      if (!item.envelope) {
        slices.emplace_back(size(item.rank), item.rank);
        continue;
      }
      int64_t used = 0;
      for (const int32_t rank : item.blocks) {
        slices.emplace_back(size(rank), rank);
        used += size(rank);
      }
      slices.emplace_back(envelopes_.at(*item.envelope).capacity - used, *item.envelope);
    }
    return slices;
  }
  [[nodiscard]] Key key_of_block(int32_t rank) const {
    const auto i = static_cast<size_t>(rank);
    const int32_t born = blocks_.born[i];
    int32_t event = born >= 0 ? born : blocks_.source[i] < 0 ? blocks_.freed[i] : -1;
    // A request right before the completion tells of the free.
    if (born < 0 && event > 0 && action(event - 1) == Action::free_requested) --event;
    if (event >= 0) return key_of_event(event);
    const int32_t segment = segment_around(r_, blocks_.address(r_, rank));
    return segment < 0 ? Key{} : key_of(r_.segments.pool[at(segment)], r_.segments.stream[at(segment)]);
  }

 private:
  static size_t at(int32_t i) { return static_cast<size_t>(i); }
  [[nodiscard]] Action action(int32_t event) const { return r_.events.action[at(event)]; }
  [[nodiscard]] bool is_segment(int32_t event) const {
    const Action what = action(event);
    return what == Action::segment_alloc || what == Action::segment_free || what == Action::segment_map ||
           what == Action::segment_unmap;
  }
  [[nodiscard]] int64_t change(int32_t event) const {
    const int64_t size = r_.events.size[at(event)];
    switch (action(event)) {
      case Action::segment_alloc:
      case Action::segment_map:
        return size;
      case Action::segment_free:
      case Action::segment_unmap:
        return -size;
      default:
        return 0;
    }
  }
  [[nodiscard]] Key key_of(PoolId pool, StreamId stream) const {
    if (pool.is_none()) return {};
    const model::Pool& key = r_.pools[pool.index()];
    return {key.graph_id, key.user_id, stream.is_none() ? 0 : r_.streams[stream.index()]};
  }
  [[nodiscard]] Key key_of_event(int32_t event) const {
    PoolId pool = r_.events.pool[at(event)];
    if (pool.is_none()) {
      const int32_t segment = segment_around(r_, r_.events.address[at(event)]);
      if (segment >= 0) pool = r_.segments.pool[at(segment)];
    }
    return key_of(pool, r_.events.stream[at(event)]);
  }
  [[nodiscard]] int64_t size(int32_t rank) const { return blocks_.size[at(rank)]; }

  Item& item_of(const Key& key) {
    for (Item& item : stack_) {
      if (item.envelope == key) return item;
    }
    stack_.push_back({-1, key, {}});
    return stack_.back();
  }
  void add(int32_t rank) {
    const Key key = key_of_block(rank);
    if (!is_private(key)) {
      stack_.push_back({rank, {}, {}});
    } else {
      item_of(key).blocks.push_back(rank);
      envelopes_[key].active += size(rank);
    }
  }
  void remove(int32_t rank) {
    const Key key = key_of_block(rank);
    if (!is_private(key)) {
      std::erase_if(stack_, [&](const Item& item) { return item.rank == rank; });
    } else {
      std::erase(item_of(key).blocks, rank);
      envelopes_[key].active -= size(rank);
    }
  }
  void settle() {
    for (const Item& item : stack_) {
      if (!item.envelope) continue;
      Envelope& envelope = envelopes_[*item.envelope];
      envelope.capacity = std::max({envelope.capacity, envelope.active, envelope.reserved});
    }
  }

  const model::Recording& r_;
  const BlockLives& blocks_;
  std::map<Key, Envelope> envelopes_;
  std::vector<Item> stack_;
};

class PoolBandsTwin : public testing::TestWithParam<int> {};

TEST_P(PoolBandsTwin, LevelsEnvelopesAndPixelsAreTheSame) {
  const int seed = GetParam();
  const int events = seed % 4 == 0 ? 6000 : 400;
  Story story(static_cast<uint64_t>(seed), events, seed % 2 == 0);
  ASSERT_TRUE(story.hand.ok());
  const model::Recording& recording = story.hand.recording;
  auto blocks = story.hand.lifetimes();
  ASSERT_TRUE(blocks.has_value());
  const auto known = analysis::block_attributes(recording, recording.parts[0], *blocks);
  ASSERT_TRUE(known.has_value());
  const auto pools =
      pool_bands(recording, recording.parts[0], *blocks, known->pool.span(), known->stream.span());
  ASSERT_TRUE(pools.has_value());
  const auto timeline = Timeline::build(recording, *pools);
  ASSERT_TRUE(timeline.has_value());

  NaiveStack naive(recording, *blocks);
  std::vector<Key> from_start;
  std::vector<Key> keys;
  for (const PoolEnvelope& envelope : pools->envelopes) {
    const model::Pool& pool = recording.pools[envelope.pool.index()];
    keys.push_back({pool.graph_id, pool.user_id, recording.streams[envelope.stream.index()]});
    if (envelope.born < 0) from_start.push_back(keys.back());
  }
  naive.start(from_start);
  const auto rank_of = [&](const std::variant<int32_t, Key>& whose) {
    if (const int32_t* rank = std::get_if<int32_t>(&whose)) return *rank;
    const auto found = std::find(keys.begin(), keys.end(), std::get<Key>(whose));
    return static_cast<int32_t>(found - keys.begin()) + blocks->count();
  };

  // The picture of a few events in order, far apart and next to each other, at a few scales.
  std::vector<int32_t> shown;
  for (int32_t event = -1; event < blocks->events.count; ++event) {
    if (event >= 0) naive.step(event);
    ASSERT_EQ(pools->level_after(event), naive.level()) << event;
    int64_t unused = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(pools->envelopes[i].capacity.at(event), naive.capacity(keys[i])) << event << " " << i;
      unused += rest_at(*pools, pools->envelopes[i], event);
    }
    ASSERT_EQ(pools->pending.at(event) - blocks->pending.at(event), unused) << event;
    if (event % 7 != 0 && events > 1000) continue;
    int64_t at = 0;
    for (const auto& [size, whose] : naive.slices()) {
      if (size == 0) continue;
      for (const int64_t height : {at, at + size - 1}) {
        const int32_t band = timeline->pick(event, static_cast<double>(height));
        ASSERT_GE(band, 0) << event << " " << height;
        ASSERT_EQ(pools->rank_of_band[static_cast<size_t>(band)], rank_of(whose)) << event << " " << height;
      }
      at += size;
    }
  }

  // Columns drawn after others are as columns drawn alone, with and without means.
  const std::vector<uint32_t> colours_of_bands = {0xFFA7794E, 0xFF2C8EF2, 0xFF5957E1};
  const BandColours colours({.palette = {.bands = colours_of_bands, .envelope = 0xFF999999},
                             .rank_of_band = pools->rank_of_band.span(),
                             .blocks = static_cast<uint32_t>(blocks->count()),
                             .group = {},
                             .matched = {}});
  for (const int64_t width : {1, 3, 16}) {
    for (const BandColours* with : {static_cast<const BandColours*>(nullptr), &colours}) {
      const RowGrid rows{0, static_cast<double>(pools->peak_level) / 97 / static_cast<double>(width), 101};
      const ColumnGrid columns{Axis::event, story.random.whole(0, 50), width, 150};
      std::vector<uint32_t> together(static_cast<size_t>(columns.count) * static_cast<size_t>(rows.count));
      timeline->draw(columns, rows, together, with);
      for (int32_t c = 0; c < columns.count; ++c) {
        std::vector<uint32_t> alone(static_cast<size_t>(rows.count));
        timeline->draw({Axis::event, columns.first + c, width, 1}, rows, alone, with);
        const auto* first = together.data() + static_cast<size_t>(c) * alone.size();
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), first)) << "column " << c << " of width " << width;
        const int32_t event = timeline->event_of_column(Axis::event, columns.first + c, width);
        for (int32_t r = 0; r < rows.count && with == nullptr; ++r) {
          const double centre = (r + 0.5) * rows.bytes_per_row;
          const uint32_t pixel = alone[static_cast<size_t>(r)];
          const int32_t band = event < -1 ? -1 : timeline->pick(event, centre);
          ASSERT_EQ(pixel == kNothing ? -1 : static_cast<int32_t>(pixel & kRankMask), band) << c << " " << r;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PoolBandsTwin, testing::Range(1, 25));

}  // namespace
}  // namespace gpustrata::replay
