// Cases worked out by hand; no real file has most of them.
#include "engine/replay/state_history.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/replay/address_map.h"
#include "engine/replay/links.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/segment_bands.h"
#include "engine/replay/state_layout.h"
#include "tests/unit/numbers.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using model::BlockState;
using model::Diag;
using testing::ElementsAre;
using trace::Action;

// "0+2097152: A0+1024/1000 -1024+2096128" per segment, addresses from kBase; A allocated, P pending, - inactive.
class Replayed {
 public:
  explicit Replayed(HandTrace& hand) : hand_(hand) {
    EXPECT_TRUE(hand.ok());
    (void)hand.lifetimes();  // sets the snapshot's rows
    auto found = undo_to_start(hand.recording, hand.recording.parts[0], HandTrace::kDevice);
    EXPECT_TRUE(found.has_value());
    history_.emplace(std::move(*found));
    memory_.emplace(*history_, hand.budget);
  }
  [[nodiscard]] std::vector<std::string> after(int32_t event) {
    EXPECT_TRUE(memory_->go_to(event));
    std::vector<std::string> texts;
    for (const SegmentAt& segment : memory_->segments()) {
      std::string text = fmt::format("{}+{}:", segment.address - kBase, segment.size);
      for (const BlockAt& block : memory_->blocks_of(segment)) text += text_of(block);
      texts.push_back(text);
    }
    for (const BlockAt& block : memory_->outside()) texts.push_back("outside:" + text_of(block));
    return texts;
  }
  [[nodiscard]] int64_t count(Diag diag) const { return history_->diagnostics[diag].count; }
  [[nodiscard]] const std::string& detail(Diag diag) const { return history_->diagnostics[diag].detail; }
  [[nodiscard]] const StateHistory& history() const { return *history_; }
  [[nodiscard]] MemoryAt& memory() { return *memory_; }

 private:
  static std::string text_of(const BlockAt& block) {
    const char state = "AP-"[static_cast<int>(block.state)];
    return state == '-'
               ? fmt::format(" -{}+{}", block.address - kBase, block.size)
               : fmt::format(" {}{}+{}/{}", state, block.address - kBase, block.size, block.requested_size);
  }
  HandTrace& hand_;
  std::optional<StateHistory> history_;
  std::optional<MemoryAt> memory_;
};

TEST(StateHistory, FollowsABlockFromItsSegmentToItsFree) {
  HandTrace hand;
  hand.event(Action::segment_alloc, kBase, 2 * kMiB).alloc(kBase, 1000).alloc(kBase + 1024, 512);
  hand.request(kBase, 1000).complete(kBase, 1000);
  hand.segment(kBase, 2 * kMiB).block(kBase + 1024, 512, 512, BlockState::active_allocated);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre());
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: -0+2097152"));
  EXPECT_THAT(replayed.after(1), ElementsAre("0+2097152: A0+1024/1000 -1024+2096128"));
  EXPECT_THAT(replayed.after(2), ElementsAre("0+2097152: A0+1024/1000 A1024+512/512 -1536+2095616"));
  EXPECT_THAT(replayed.after(3), ElementsAre("0+2097152: P0+1024/1000 A1024+512/512 -1536+2095616"));
  EXPECT_THAT(replayed.after(4), ElementsAre("0+2097152: -0+1024 A1024+512/512 -1536+2095616"));
  EXPECT_FALSE(replayed.history().diagnostics.any());
  const TotalsAt& totals = replayed.memory().totals();
  EXPECT_EQ(totals.reserved, 2 * kMiB);
  EXPECT_EQ(totals.allocated, 512);
  EXPECT_EQ(totals.largest_free, 2095616);
  EXPECT_EQ(totals.free_blocks, 2);
}

TEST(StateHistory, AWrappedRingLeavesBlocksFromBeforeIt) {
  HandTrace hand;
  hand.complete(kBase, 700)
      .request(kBase + 1024, 600)
      .complete(kBase + 1024, 600);  // 0 was requested before the trace
  hand.segment(kBase, 2 * kMiB);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre("0+2097152: P0+1024/700 A1024+1024/600 -2048+2095104"));
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: -0+1024 A1024+1024/600 -2048+2095104"));
  EXPECT_THAT(replayed.after(2), ElementsAre("0+2097152: -0+2097152"));
}

TEST(StateHistory, ARestOfUpToOneMiBStaysWithALargeBlock) {
  HandTrace hand;
  hand.alloc(kBase, 19 * kMiB).request(kBase, 19 * kMiB).complete(kBase, 19 * kMiB);  // rest 1 MiB: not split
  hand.alloc(kBase, 18 * kMiB).request(kBase, 18 * kMiB).complete(kBase, 18 * kMiB);  // rest 2 MiB: split
  hand.segment(kBase, 20 * kMiB);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(0), ElementsAre("0+20971520: A0+20971520/19922944"));
  EXPECT_THAT(replayed.after(3), ElementsAre("0+20971520: A0+18874368/18874368 -18874368+2097152"));
}

TEST(StateHistory, TheRecordedSettingsRound) {
  HandTrace hand;
  hand.alloc(kBase, 1200).request(kBase, 1200).complete(kBase, 1200);  // 4 steps between 1024 and 2048
  hand.segment(kBase, 2 * kMiB);
  hand.recording.parts[0].settings_json =
      hand.recording.strings.intern(R"({"max_split_size":-1,"roundup_power2_divisions":{"1":2,"2":0}})");
  Replayed replayed(hand);
  // 1200 > 512 * 2: steps of 512 between 1024 and 2048.
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: A0+1536/1200 -1536+2095616"));
}

TEST(StateHistory, ASecondAllocOfALiveAddressEndsTheFirst) {
  HandTrace hand;
  hand.alloc(kBase, 1000).alloc(kBase + 4096, 100).alloc(kBase, 2000);
  hand.segment(kBase, 2 * kMiB)
      .block(kBase, 2048, 2000, BlockState::active_allocated)
      .block(kBase + 4096, 512, 100, BlockState::active_allocated);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: A0+1024/1000 -1024+2096128"));
  EXPECT_THAT(replayed.after(1),
              ElementsAre("0+2097152: A0+1024/1000 -1024+3072 A4096+512/100 -4608+2092544"));
  EXPECT_THAT(replayed.after(2),
              ElementsAre("0+2097152: A0+2048/2000 -2048+2048 A4096+512/100 -4608+2092544"));
  EXPECT_EQ(replayed.count(Diag::state_alloc_not_live), 1);
  EXPECT_EQ(replayed.detail(Diag::state_alloc_not_live), "event 0, address 0x7f064c000000");
}

TEST(StateHistory, ASecondFreeMeansThatAnAllocIsMissing) {
  HandTrace hand;
  hand.request(kBase, 512)
      .complete(kBase, 512)
      .alloc(kBase + 4096, 512)
      .request(kBase, 1024)
      .complete(kBase, 1024);
  hand.segment(kBase, 2 * kMiB).block(kBase + 4096, 512, 512, BlockState::active_allocated);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre("0+2097152: A0+512/512 -512+2096640"));
  EXPECT_THAT(replayed.after(1), ElementsAre("0+2097152: -0+2097152"));
  EXPECT_THAT(replayed.after(2),
              ElementsAre("0+2097152: A0+1024/1024 -1024+3072 A4096+512/512 -4608+2092544"));
  EXPECT_THAT(replayed.after(3),
              ElementsAre("0+2097152: P0+1024/1024 -1024+3072 A4096+512/512 -4608+2092544"));
  EXPECT_EQ(replayed.count(Diag::state_free_of_live_block), 1);
}

TEST(StateHistory, ABlockPendingInTheEndHasItsRequestInTheTrace) {
  HandTrace hand;
  hand.alloc(kBase, 512).request(kBase, 512).alloc(kBase + 512, 512);
  hand.segment(kBase, 2 * kMiB)
      .block(kBase, 512, 512, BlockState::active_pending_free)
      .block(kBase + 512, 512, 512, BlockState::active_allocated);
  hand.complete(kBase + 512, 1);  // some completion, so that requests are not the frees
  hand.alloc(kBase + 512, 512);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: A0+512/512 -512+2096640"));
  EXPECT_THAT(replayed.after(1), ElementsAre("0+2097152: P0+512/512 -512+2096640"));
  EXPECT_THAT(replayed.after(4), ElementsAre("0+2097152: P0+512/512 A512+512/512 -1024+2096128"));
}

TEST(StateHistory, MapsAndUnmapsAreOneSegmentWithHoles) {
  HandTrace hand;
  hand.event(Action::segment_unmap, kBase + 2 * kMiB, 2 * kMiB)
      .event(Action::segment_map, kBase + 6 * kMiB, 2 * kMiB);
  hand.segment(kBase, 2 * kMiB).segment(kBase + 4 * kMiB, 4 * kMiB);
  for (size_t i : {0, 1}) hand.recording.segments.expandable[i] = model::Tristate::yes;
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre("0+6291456: -0+6291456"));
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: -0+2097152", "4194304+2097152: -4194304+2097152"));
  EXPECT_THAT(replayed.after(1), ElementsAre("0+2097152: -0+2097152", "4194304+4194304: -4194304+4194304"));
  EXPECT_FALSE(replayed.history().diagnostics.any());
}

TEST(StateHistory, ASegmentMapWhoseMemoryIsNotThereIsRepaired) {
  HandTrace hand;
  hand.event(Action::segment_map, kBase, 2 * kMiB).alloc(kBase, 512).event(Action::snapshot, 0, 0);
  Replayed replayed(hand);  // no segments at all in the end
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: -0+2097152"));
  EXPECT_THAT(replayed.after(1), ElementsAre("0+2097152: A0+512/512 -512+2096640"));
  EXPECT_THAT(replayed.after(2), ElementsAre());
  EXPECT_EQ(replayed.count(Diag::state_segment_not_there), 1);
  EXPECT_EQ(replayed.count(Diag::state_alloc_not_live), 1);
}

TEST(StateHistory, WithoutSegmentsBlocksAreListedApart) {
  HandTrace hand;
  hand.alloc(kBase, 1000).request(kBase, 1000).complete(kBase, 1000);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(0), ElementsAre("outside: A0+1024/1000"));
  EXPECT_THAT(replayed.after(2), ElementsAre());
}

TEST(StateHistory, WithoutCompletionsTheRequestIsTheFree) {
  HandTrace hand;
  hand.alloc(kBase, 512).request(kBase, 512).alloc(kBase, 1024);
  hand.segment(kBase, 2 * kMiB).block(kBase, 1024, 1024, BlockState::active_allocated);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: A0+512/512 -512+2096640"));
  EXPECT_THAT(replayed.after(1), ElementsAre("0+2097152: -0+2097152"));
}

TEST(StateHistory, WithoutEventsTheDumpIsTheState) {
  HandTrace hand;
  hand.segment(kBase, 2 * kMiB).block(kBase + 512, 512, 100, BlockState::active_pending_free);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre("0+2097152: -0+512 P512+512/100 -1024+2096128"));
}

TEST(Links, ABlockIsFoundInTraceAndTimeline) {
  HandTrace hand;
  hand.complete(kBase, 512).alloc(kBase, 100).request(kBase, 100).complete(kBase, 100);
  hand.segment(kBase, 2 * kMiB).block(kBase + 512, 512, 512, BlockState::active_allocated);
  Replayed replayed(hand);
  const auto lifetimes = hand.lifetimes();
  ASSERT_TRUE(lifetimes.has_value());
  for (int32_t rank = 0; rank < 3; ++rank) {
    const int32_t block = block_of_rank(replayed.history(), *lifetimes, rank);
    EXPECT_EQ(rank_of_block(hand.recording, replayed.history(), *lifetimes, block), rank);
  }
  const int32_t traced = replayed.history().row_of_event[1];
  const BlockEvents events = events_of_block(hand.recording, replayed.history(), traced);
  EXPECT_EQ(events.alloc, 1);
  EXPECT_EQ(events.free_requested, 2);
  EXPECT_EQ(events.free_completed, 3);
  EXPECT_EQ(replayed.history().block_version[static_cast<size_t>(traced)], 1U);  // one free of it before
}

// A ring of the newest events begins with a completion: the block waited to be freed before it.
TEST(StateHistory, ABlockWhoseRequestIsLostWasPending) {
  HandTrace hand;
  hand.complete(kBase, 1000);
  hand.segment(kBase, 2 * kMiB).block(kBase, 2 * kMiB, 0, BlockState::inactive);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre("0+2097152: P0+1024/1000 -1024+2096128"));
  EXPECT_THAT(replayed.after(0), ElementsAre("0+2097152: -0+2097152"));
}

// The second block is freed without a request, so requests are not written and none was lost.
TEST(StateHistory, WhereNoRequestsAreWrittenNoneIsLost) {
  HandTrace hand;
  hand.complete(kBase, 512).alloc(kBase + 512, 512).complete(kBase + 512, 512);
  hand.segment(kBase, 2 * kMiB).block(kBase, 2 * kMiB, 0, BlockState::inactive);
  Replayed replayed(hand);
  EXPECT_THAT(replayed.after(-1), ElementsAre("0+2097152: A0+512/512 -512+2096640"));
}

// Three pieces of 2^62 bytes that touch are one segment of more bytes than a size can say.
TEST(StateHistory, JoinedPiecesOfAHostileFileAreAtMostTheLargestSize) {
  HandTrace hand;
  constexpr int64_t kPiece = int64_t{1} << 62;
  for (uint64_t i = 0; i < 3; ++i) hand.event(Action::segment_map, 4096 + i * kPiece, kPiece);
  hand.event(Action::snapshot, 0, 0);  // the dump has none of them: they are there until the last event
  Replayed replayed(hand);
  ASSERT_TRUE(replayed.memory().go_to(2));
  ASSERT_EQ(replayed.memory().segments().size(), 1U);
  EXPECT_EQ(replayed.memory().segments()[0].size, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(replayed.memory().blocks()[0].size, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(replayed.memory().totals().largest_free, std::numeric_limits<int64_t>::max());
}

TEST(StateBuilder, SlicesOfAnySizeGiveTheSameHistory) {
  HandTrace hand;
  hand.event(Action::segment_alloc, kBase, 2 * kMiB).complete(kBase + 4096, 512);
  for (int i = 0; i < 50; ++i) {
    const uint64_t address = kBase + 512 * static_cast<uint64_t>(i % 7);
    hand.alloc(address, 100 + i).request(address, 100 + i);
    if (i % 3 > 0) hand.alloc(kBase + kMiB + 512 * static_cast<uint64_t>(i), 512);
    hand.complete(address, 100 + i);
  }
  hand.segment(kBase, 2 * kMiB).block(kBase + kMiB + 512, 512, 512, BlockState::active_allocated);
  Replayed whole(hand);
  for (const int64_t work : {1, 2, 7, 100, 1000000}) {
    StateBuilder builder(hand.recording, hand.recording.parts[0], HandTrace::kDevice);
    int steps = 1;
    double share = builder.share();
    EXPECT_EQ(share, 0) << work;
    for (auto done = builder.step(work); !*done; done = builder.step(work)) {
      ++steps;
      EXPECT_GE(builder.share(), share) << work;
      EXPECT_LT(builder.share(), 1) << work;
      share = builder.share();
    }
    EXPECT_EQ(builder.share(), 1) << work;
    EXPECT_GE(steps, work == 1 ? 4 * whole.history().event_count() : 1);
    const StateHistory found = builder.take();
    const auto same = [](const auto& a, const auto& b) {
      return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    };
    EXPECT_TRUE(same(found.blocks.address, whole.history().blocks.address)) << work;
    EXPECT_TRUE(same(found.blocks.size, whole.history().blocks.size)) << work;
    EXPECT_TRUE(same(found.blocks.begin, whole.history().blocks.begin)) << work;
    EXPECT_TRUE(same(found.blocks.end, whole.history().blocks.end)) << work;
    EXPECT_TRUE(same(found.pending_from, whole.history().pending_from)) << work;
    EXPECT_TRUE(same(found.row_of_event, whole.history().row_of_event)) << work;
    EXPECT_TRUE(same(found.ranges.address, whole.history().ranges.address)) << work;
  }
}

TEST(StateLayout, NumbersThatNoScreenHasShowNothing) {
  HandTrace hand;
  hand.segment(kBase, 2 * kMiB).block(kBase, 2 * kMiB, 2 * kMiB, BlockState::active_allocated);
  Replayed replayed(hand);
  ASSERT_TRUE(replayed.memory().go_to(-1));
  StateLayout layout(hand.budget);
  ASSERT_TRUE(layout.pack(replayed.memory()));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(layout.rects(replayed.memory(), {200, 100, 1, 0, 0}).x.empty());
  for (const double wrong : {kNan, kInfinite, -kInfinite, 1e300, -1.0}) {
    for (const StateWindow& window : {StateWindow{wrong, 100, 1, 0, 0}, StateWindow{200, wrong, 1, 0, 0},
                                      StateWindow{200, 100, wrong, 0, 0}}) {
      EXPECT_TRUE(layout.rects(replayed.memory(), window).x.empty()) << wrong;
      EXPECT_EQ(layout.hit(replayed.memory(), window, 1, 1).segment, -1) << wrong;
      EXPECT_EQ(layout.place_of(replayed.memory(), 0, window).width, 0) << wrong;
    }
    EXPECT_EQ(layout.hit(replayed.memory(), {200, 100, 1, 0, 0}, wrong, wrong).segment, -1) << wrong;
  }
  EXPECT_TRUE(layout.rects(replayed.memory(), {200, 100, 1, kNan, 0}).x.empty());
  EXPECT_TRUE(layout.rects(replayed.memory(), {200, 100, 1, 0, kInfinite}).x.empty());
}

// Found by the sanitizers: the difference of a column and the first one left 64 bits.
TEST(AddressMap, ColumnsFarAwayShowNothing) {
  HandTrace hand;
  hand.alloc(kBase, 512);
  hand.segment(kBase, 2 * kMiB).block(kBase, 512, 512, BlockState::active_allocated);
  Replayed replayed(hand);
  const auto lives = hand.lifetimes();
  ASSERT_TRUE(lives.has_value());
  auto map = AddressMap::build(hand.recording, replayed.history(), *lives);
  ASSERT_TRUE(map.has_value());
  map->sort_by(RegionOrder::address);
  std::vector<int32_t> pixels(8);
  for (const int64_t first : {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 3}) {
    for (const int64_t width : {int64_t{1}, INT64_MAX}) {
      map->draw({Axis::event, first, width, 4}, 0, 1, 2, pixels);
      EXPECT_THAT(pixels, testing::Each(kNotMapped)) << first << " " << width;
    }
  }
  map->draw({Axis::event, -1, INT64_MAX, 4}, INT32_MIN, INT32_MAX, 2, pixels);
  EXPECT_EQ(pixels[1 * 4 + 1], 0);  // the block, in the one column there is
}

TEST(SegmentBands, MapsAndUnmapsAreBands) {
  HandTrace hand;
  hand.event(Action::segment_unmap, kBase + 2 * kMiB, 2 * kMiB)
      .event(Action::segment_map, kBase + 6 * kMiB, 2 * kMiB);
  hand.segment(kBase, 2 * kMiB).segment(kBase + 4 * kMiB, 4 * kMiB);
  Replayed replayed(hand);
  const auto segments = segment_bands(hand.recording, replayed.history());
  ASSERT_TRUE(segments.has_value());
  const SegmentBands& lives = *segments;
  EXPECT_EQ(lives.initial_level, 6 * kMiB);
  EXPECT_EQ(lives.level_after(0), 4 * kMiB);
  EXPECT_EQ(lives.level_after(1), 6 * kMiB);
  EXPECT_EQ(lives.count(), 4);
  EXPECT_EQ(lives.from_start, 3);
  EXPECT_EQ(lives.address[3], kBase + 6 * kMiB);
}

// One segment of 100 bytes' worth of columns: 2 MiB over 200 pixels is 10485.76 bytes a pixel.
TEST(StateLayout, BlocksLieWhereTheirAddressesAre) {
  HandTrace hand;
  hand.segment(kBase, 2 * kMiB)
      .block(kBase + kMiB, kMiB / 2, kMiB / 4, BlockState::active_allocated)
      .block(kBase + kMiB * 3 / 2, kMiB / 4, kMiB / 4, BlockState::active_pending_free);
  Replayed replayed(hand);
  ASSERT_TRUE(replayed.memory().go_to(-1));
  StateLayout layout(hand.budget);
  ASSERT_TRUE(layout.pack(replayed.memory()));
  const StateWindow window{200, 100, 1, 0, 0};
  const StateRects rects = layout.rects(replayed.memory(), window);
  EXPECT_THAT(rects.kind, ElementsAre(0, 4, 1, 2, 3, 4));  // segment, gap, block, rounding, pending, gap
  EXPECT_THAT(rects.x, ElementsAre(0, 0, 100, 125, 150, 175));
  EXPECT_THAT(rects.width, ElementsAre(200, 100, 25, 25, 25, 25));
  EXPECT_THAT(rects.height, testing::Each(80));
  EXPECT_THAT(rects.free, ElementsAre(1.25F / 2, 0, 0, 0, 0, 0));  // 1.25 of 2 MiB
  EXPECT_EQ(layout.hit(replayed.memory(), window, 130, 10).part, StateKind::rounding);
  EXPECT_EQ(layout.hit(replayed.memory(), window, 160, 10).part, StateKind::pending);
  EXPECT_EQ(layout.hit(replayed.memory(), window, 10, 10).part, StateKind::gap);
  EXPECT_EQ(layout.hit(replayed.memory(), window, 10, 95).segment, -1);
}

TEST(AddressMap, ShowsBlocksAtTheirOffsetOverTime) {
  HandTrace hand;
  hand.event(Action::segment_alloc, kBase, 2 * kMiB)
      .alloc(kBase, kMiB)
      .request(kBase, kMiB)
      .complete(kBase, kMiB);
  hand.segment(kBase, 2 * kMiB);
  Replayed replayed(hand);
  const auto lifetimes = hand.lifetimes();
  ASSERT_TRUE(lifetimes.has_value());
  auto map = AddressMap::build(hand.recording, replayed.history(), *lifetimes);
  ASSERT_TRUE(map.has_value());
  ASSERT_EQ(map->region_count(), 1);
  std::vector<int32_t> pixels(4 * 2);
  map->draw({Axis::event, 0, 1, 4}, 0, 1, 2, pixels);
  // Upper half: free all the time. Lower half: the block from event 1 until 3.
  EXPECT_THAT(pixels, ElementsAre(kMappedFree, kMappedFree, kMappedFree, kMappedFree,  //
                                  kMappedFree, 0, 0, kMappedFree));
}

// Of 2 MiB, mapped by event 0, 1 MiB is used after events 1 and 2; a column of two events shows the state after the second.
TEST(AddressMap, TheFreeShareOfARegionIsThatAfterTheLastEventOfAColumn) {
  HandTrace hand;
  hand.event(Action::segment_alloc, kBase, 2 * kMiB)
      .alloc(kBase, kMiB)
      .request(kBase, kMiB)
      .complete(kBase, kMiB);
  hand.segment(kBase, 2 * kMiB);
  hand.segment(kBase + 8 * kMiB, 2 * kMiB)
      .block(kBase + 8 * kMiB, 2 * kMiB, 2 * kMiB, BlockState::active_allocated);
  Replayed replayed(hand);
  const auto lives = hand.lifetimes();
  ASSERT_TRUE(lives.has_value());
  const auto map = AddressMap::build(hand.recording, replayed.history(), *lives);
  ASSERT_TRUE(map.has_value());
  ASSERT_EQ(map->region_count(), 2);
  Column<float> shares(hand.budget);
  ASSERT_TRUE(map->free_shares({Axis::event, 0, 1, 4}, 0, 2, shares));
  EXPECT_THAT(shares.span(), ElementsAre(1, 0.5F, 0.5F, 1, 0, 0, 0, 0));  // the second is full all the time
  ASSERT_TRUE(map->free_shares({Axis::event, 0, 2, 2}, 0, 1, shares));
  EXPECT_THAT(shares.span(), ElementsAre(0.5F, 1));
  ASSERT_TRUE(
      map->free_shares({Axis::event, -2, 1, 3}, 0, 1, shares));  // left of the recording nothing is mapped
  EXPECT_THAT(shares.span(), ElementsAre(0, 0, 1));
  ASSERT_TRUE(map->free_shares({Axis::event, 3, 1, 3}, 1, 5, shares));  // there is no third region
  EXPECT_THAT(shares.span(), ElementsAre(0, 0, 0));
  ASSERT_TRUE(map->free_shares({Axis::event, INT64_MAX - 3, INT64_MAX, 4}, 0, 2, shares));
  EXPECT_THAT(shares.span(), testing::Each(0));
}

}  // namespace
}  // namespace gpustrata::replay
