// Private pools as envelopes: numbers worked out by hand from the rules in pool_bands.h.

#include "engine/replay/pool_bands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/device/block_attributes.h"
#include "engine/replay/timeline.h"
#include "tests/unit/numbers.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using model::BlockState;
using testing::ElementsAre;
using trace::Action;

class PoolTrace : public HandTrace {
 public:
  // Of the last event or the last segment.
  PoolTrace& event_pool(int64_t graph, int64_t user) {
    recording.events.pool.back() = recording.pool_of({graph, user});
    return *this;
  }
  PoolTrace& event_stream(int64_t handle) {
    recording.events.stream.back() = recording.stream_of(handle);
    return *this;
  }
  PoolTrace& private_segment(uint64_t address, int64_t size, int64_t user = 1, int64_t stream = 0) {
    segment(address, size);
    recording.segments.pool.back() = recording.pool_of({0, user});
    recording.segments.stream.back() = recording.stream_of(stream);
    return *this;
  }
};

class Pools {
 public:
  explicit Pools(HandTrace& hand) : blocks(*hand.lifetimes()) {
    const auto known = analysis::block_attributes(hand.recording, hand.recording.parts[0], blocks);
    auto pools =
        pool_bands(hand.recording, hand.recording.parts[0], blocks, known->pool.span(), known->stream.span());
    found.emplace(std::move(*pools));
    auto built = Timeline::build(hand.recording, *found);
    timeline.emplace(std::move(*built));
  }

  [[nodiscard]] std::vector<int64_t> levels() const {
    std::vector<int64_t> levels{found->initial_level};
    levels.insert(levels.end(), found->level.begin(), found->level.end());
    return levels;
  }
  // What lies where after an event, from the bottom: "0:100" is 100 bytes of rank 0.
  [[nodiscard]] std::vector<std::string> stack(int32_t event) const {
    std::vector<std::string> stack;
    for (int64_t at = 0; at < found->level_after(event);) {
      const int32_t band = timeline->pick(event, static_cast<double>(at));
      const int64_t size = found->size[static_cast<size_t>(band)];
      stack.push_back(std::to_string(found->rank_of_band[static_cast<size_t>(band)]) + ":" +
                      std::to_string(size));
      at += size;
    }
    return stack;
  }
  [[nodiscard]] std::vector<int64_t> capacities(size_t envelope) const {
    std::vector<int64_t> values;
    for (int32_t event = -1; event < found->events.count; ++event)
      values.push_back(found->envelopes[envelope].capacity.at(event));
    return values;
  }

  BlockLives blocks;
  std::optional<PoolBands> found;
  std::optional<Timeline> timeline;
};

TEST(PoolBands, ASegmentCountsAsAWhole) {
  PoolTrace hand;
  hand.event(Action::alloc, kBase, 500);
  hand.private_segment(kBase, 8192).block(kBase, 512, 500, BlockState::active_allocated);
  const Pools pools(hand);
  EXPECT_EQ(pools.found->peak_level, 8192);
  EXPECT_EQ(pools.found->peak_event, -1);
  EXPECT_THAT(pools.levels(), ElementsAre(8192, 8192));
  EXPECT_THAT(pools.stack(-1), ElementsAre("1:8192"));
  EXPECT_THAT(pools.stack(0), ElementsAre("0:500", "1:7692"));
}

TEST(PoolBands, WithoutEnvelopesABlockCountsWhatWasAskedFor) {
  PoolTrace hand;
  hand.event(Action::alloc, kBase, 800);
  hand.private_segment(kBase, 8192).block(kBase, 1024, 800, BlockState::active_allocated);
  EXPECT_EQ(hand.lifetimes()->peak_level, 800);
  EXPECT_EQ(Pools(hand).found->peak_level, 8192);
}

TEST(PoolBands, ALoneFreeIsFromTheStart) {
  PoolTrace hand;
  hand.complete(kBase, 300);
  const Pools pools(hand);
  EXPECT_EQ(pools.found->peak_level, 300);
  EXPECT_THAT(pools.levels(), ElementsAre(300, 0));
  EXPECT_TRUE(pools.found->envelopes.empty());
}

// The envelope does not shrink when its block from before the trace is freed, and that is no second block.
TEST(PoolBands, ABlockFromBeforeIsInsideFromTheStart) {
  PoolTrace hand;
  hand.complete(kBase, 300);
  hand.private_segment(kBase, 200);
  const Pools pools(hand);
  EXPECT_THAT(pools.levels(), ElementsAre(300, 300));  // active 300 is more than reserved 200
  EXPECT_THAT(pools.stack(-1), ElementsAre("0:300"));
  EXPECT_THAT(pools.stack(0), ElementsAre("1:300"));
  EXPECT_EQ(pools.found->envelopes[0].blocks, 1);
  EXPECT_EQ(pools.found->envelopes[0].born, -1);
}

TEST(PoolBands, ReservedStartsFromTheEndLessTheNet) {
  PoolTrace hand;
  // At the end 6000 + 2000; the trace adds 6000 and takes 1000 away (that pool is told by the event).
  hand.event(Action::segment_free, kBase + 0x10000, 1000);
  hand.event_pool(0, 1);
  hand.event(Action::segment_alloc, kBase, 6000);
  hand.event(Action::alloc, kBase, 100);
  hand.private_segment(kBase, 6000).private_segment(kBase + 0x20000, 2000);
  const Pools pools(hand);
  ASSERT_EQ(pools.found->envelopes.size(), 1U);
  // Reserved 8000 - 5000 = 3000, then 2000, 8000: the envelope keeps 3000 in between.
  EXPECT_EQ(pools.found->envelopes[0].reserved.initial, 3000);
  EXPECT_EQ(pools.found->envelopes[0].reserved.at(0), 2000);
  EXPECT_EQ(pools.found->envelopes[0].reserved.at(1), 8000);
  EXPECT_THAT(pools.levels(), ElementsAre(3000, 3000, 8000, 8000));
  EXPECT_EQ(pools.found->envelopes[0].peak_active, 100);
}

TEST(PoolBands, BlocksComeAndGoInsideAndMoveNothingOutside) {
  PoolTrace hand;
  hand.alloc(kBase, 100);                                               // rank 0
  hand.event(Action::segment_alloc, kBase + 0x100000, 1000);            // the envelope appears: rank 4
  hand.alloc(kBase + 0x200, 50);                                        // rank 1
  hand.alloc(kBase + 0x100000, 300).alloc(kBase + 0x100200, 200);       // ranks 2, 3
  hand.request(kBase + 0x100000, 300).complete(kBase + 0x100000, 300);  // 3 slides down inside
  hand.request(kBase, 100).complete(kBase, 100);                        // all slide down
  hand.segment(kBase, 0x1000);
  hand.private_segment(kBase + 0x100000, 1000);
  const Pools pools(hand);
  EXPECT_THAT(pools.stack(0), ElementsAre("0:100"));
  EXPECT_THAT(pools.stack(1), ElementsAre("0:100", "4:1000"));
  EXPECT_THAT(pools.stack(2), ElementsAre("0:100", "4:1000", "1:50"));
  EXPECT_THAT(pools.stack(3), ElementsAre("0:100", "2:300", "4:700", "1:50"));
  EXPECT_THAT(pools.stack(4), ElementsAre("0:100", "2:300", "3:200", "4:500", "1:50"));
  EXPECT_THAT(pools.stack(6), ElementsAre("0:100", "3:200", "4:800", "1:50"));
  EXPECT_THAT(pools.stack(8), ElementsAre("3:200", "4:800", "1:50"));
  EXPECT_THAT(pools.levels(), ElementsAre(0, 100, 1100, 1150, 1150, 1150, 1150, 1150, 1150, 1050));
  EXPECT_EQ(pools.found->envelopes[0].born, 1);
  // Lower edges of the envelope and of what lies on it.
  const PoolEnvelope& envelope = pools.found->envelopes[0];
  const ColumnGrid columns{Axis::event, 0, 1, 9};
  EXPECT_THAT(pools.timeline->edge(envelope.first_band, envelope.born, 9, columns),
              ElementsAre(testing::IsNan(), 100, 100, 100, 100, 100, 100, 100, 0));
  EXPECT_THAT(pools.timeline->edge(envelope.end_band, envelope.born, 9, columns),
              ElementsAre(testing::IsNan(), 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1000));
  // What is no rest: the blocks.
  EXPECT_THAT(pools.timeline->curves(columns).allocated,
              ElementsAre(100, 100, 150, 450, 650, 650, 350, 350, 250));
  EXPECT_EQ(rest_at(*pools.found, envelope, 1), 1000);
  EXPECT_EQ(rest_at(*pools.found, envelope, 4), 500);
  EXPECT_EQ(rest_at(*pools.found, envelope, 0), 0);
}

TEST(PoolBands, AnEnvelopeGrowsWithItsBlocksWhereSegmentEventsAreMissing) {
  PoolTrace hand;
  hand.event(Action::alloc, kBase, 300);
  hand.event_pool(2, 0);
  hand.event(Action::alloc, kBase + 0x200, 100);
  hand.event_pool(2, 0);
  hand.request(kBase, 300).complete(kBase, 300);
  const Pools pools(hand);
  EXPECT_THAT(pools.levels(), ElementsAre(0, 300, 400, 400, 400));
  EXPECT_THAT(pools.stack(3), ElementsAre("1:100", "2:300"));
  EXPECT_THAT(pools.capacities(0), ElementsAre(0, 300, 400, 400, 400));
}

TEST(PoolBands, APoolOnTwoStreamsIsTwoEnvelopes) {
  PoolTrace hand;
  hand.event(Action::alloc, kBase, 500);
  hand.event(Action::alloc, kBase + 0x100000, 700);
  hand.event_stream(0x5000);
  hand.private_segment(kBase, 1000).private_segment(kBase + 0x100000, 4000, 1, 0x5000);
  const Pools pools(hand);
  ASSERT_EQ(pools.found->envelopes.size(), 2U);
  EXPECT_THAT(pools.capacities(0), ElementsAre(1000, 1000, 1000));
  EXPECT_THAT(pools.capacities(1), ElementsAre(4000, 4000, 4000));
  EXPECT_THAT(pools.stack(1), ElementsAre("0:500", "2:500", "1:700", "3:3300"));
}

TEST(PoolBands, DefaultAndUnknownPoolsHaveNoEnvelope) {
  PoolTrace hand;
  hand.event(Action::alloc, kBase, 500);
  hand.event_pool(0, 0);
  hand.event(Action::alloc, kBase + 0x100000, 700);
  const Pools pools(hand);
  EXPECT_TRUE(pools.found->envelopes.empty());
  EXPECT_THAT(pools.levels(), ElementsAre(0, 500, 1200));
  EXPECT_THAT(pools.stack(1), ElementsAre("0:500", "1:700"));
}

TEST(PoolBands, EnvelopesBeyondEveryMemoryAreLeftOut) {
  PoolTrace hand;
  hand.event(Action::alloc, kBase, 500);
  hand.private_segment(kBase, kMaxLevel, 1).private_segment(kBase + (uint64_t{1} << 53), kMaxLevel, 2);
  const Pools pools(hand);
  EXPECT_TRUE(pools.found->envelopes.empty());
  EXPECT_THAT(pools.levels(), ElementsAre(0, 500));
  EXPECT_EQ(pools.found->diagnostics[model::Diag::level_overflow].count, 1);
}

TEST(PoolBands, ASmallBudgetIsAnError) {
  PoolTrace hand;
  for (int i = 0; i < 2000; ++i) {
    hand.event(Action::alloc, kBase + static_cast<uint64_t>(i) * 512, 500);
    hand.event_pool(0, 1);
  }
  const BlockLives blocks = *hand.lifetimes();
  const auto known = *analysis::block_attributes(hand.recording, hand.recording.parts[0], blocks);
  const int64_t used = hand.budget.used();
  ASSERT_TRUE(hand.budget.take(hand.budget.limit() - used - 1000));
  const auto pools =
      pool_bands(hand.recording, hand.recording.parts[0], blocks, known.pool.span(), known.stream.span());
  ASSERT_FALSE(pools.has_value());
  EXPECT_EQ(pools.error().code, ErrorCode::limit_exceeded);
  hand.budget.give_back(hand.budget.limit() - used - 1000);
}

}  // namespace
}  // namespace gpustrata::replay
