#include "engine/replay/block_lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using model::BlockState;
using model::Diag;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using trace::Action;

constexpr uint64_t kA = 0x7f0000000000;
constexpr uint64_t kB = 0x7f0000000200;
constexpr uint64_t kC = 0x7f0000000400;

template <typename T>
std::vector<T> list(const Column<T>& column) {
  return {column.begin(), column.end()};
}

BlockLives lifetimes_of(HandTrace& trace) {
  EXPECT_TRUE(trace.ok());
  auto found = trace.lifetimes();
  EXPECT_TRUE(found.has_value());
  return std::move(*found);
}

int64_t count_of(const BlockLives& found, Diag diag) { return found.diagnostics[diag].count; }

TEST(BlockLives, OneAllocAndItsFreePeakAtItsSize) {
  HandTrace trace;
  trace.alloc(kA, 100).request(kA, 100).complete(kA, 100);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.from_start, 0);
  EXPECT_THAT(list(found.size), ElementsAre(100));
  EXPECT_THAT(list(found.born), ElementsAre(0));
  EXPECT_THAT(list(found.freed), ElementsAre(2));
  EXPECT_THAT(list(found.level), ElementsAre(100, 100, 0));
  EXPECT_EQ(found.initial_level, 0);
  EXPECT_EQ(found.final_level, 0);
  EXPECT_EQ(found.peak_level, 100);
  EXPECT_EQ(found.peak_event, 0);
  EXPECT_EQ(found.address(trace.recording, 0), kA);
  EXPECT_FALSE(found.diagnostics.any());
}

TEST(BlockLives, AFreeWithoutAllocIsABlockFromTheStart) {
  // The official viewer once reported 0 here. Before the only event 300 bytes were live.
  HandTrace trace;
  trace.complete(kA, 300);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.from_start, 1);
  EXPECT_THAT(list(found.born), ElementsAre(-1));
  EXPECT_THAT(list(found.freed), ElementsAre(0));
  EXPECT_THAT(list(found.source), ElementsAre(-1));
  EXPECT_EQ(found.initial_level, 300);
  EXPECT_EQ(found.peak_level, 300);
  EXPECT_EQ(found.peak_event, -1);
  EXPECT_EQ(found.final_level, 0);
  EXPECT_EQ(found.address(trace.recording, 0), kA);
  EXPECT_EQ(count_of(found, Diag::free_without_alloc), 1);
}

TEST(BlockLives, AFusedFreeIsRequestAndCompletion) {
  HandTrace trace;
  trace.alloc(kA, 100).event(Action::free, kA, 100).alloc(kA, 40);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.freed), ElementsAre(1, 3));
  EXPECT_THAT(list(found.version), ElementsAre(0, 1));
  EXPECT_EQ(count_of(found, Diag::requests_only), 0);
}

TEST(BlockLives, AFinalBlockWithoutAllocExistedFromTheStartWithItsRequestedSize) {
  HandTrace trace;
  trace.alloc(kA, 100);
  trace.segment(kA, 2048)
      .block(kA, 512, 100, BlockState::active_allocated)    // the alloc of the trace
      .block(kB, 512, 77, BlockState::active_allocated)     // the one in question
      .block(kC, 512, 50, BlockState::active_pending_free)  // left out
      .block(kC + 512, 512, 40, BlockState::inactive);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.from_start, 1);
  EXPECT_THAT(list(found.size), ElementsAre(77, 100));
  EXPECT_THAT(list(found.freed), ElementsAre(1, 1));  // never
  EXPECT_THAT(list(found.source), ElementsAre(1));    // row of the block table
  EXPECT_EQ(found.address(trace.recording, 0), kB);
  EXPECT_EQ(found.initial_level, 77);
  EXPECT_EQ(found.peak_level, 177);
  EXPECT_EQ(found.peak_event, 0);
}

TEST(BlockLives, AFinalBlockOfAnotherDeviceDoesNotTakePart) {
  HandTrace trace;
  trace.segment(kA, 512, 1).block(kA, 512, 100, BlockState::active_allocated);
  EXPECT_EQ(lifetimes_of(trace).count(), 0);
}

TEST(BlockLives, AFinalBlockWithoutRequestedSizeCountsWithItsSize) {
  HandTrace trace;
  trace.segment(kA, 512).block(kA, 512, model::kUnknownSize, BlockState::active_allocated);
  EXPECT_EQ(lifetimes_of(trace).initial_level, 512);
}

TEST(BlockLives, WithoutEventsTheFinalBlocksAreAFlatPicture) {
  HandTrace trace;
  trace.segment(kA, 1024)
      .block(kA, 512, 500, BlockState::active_allocated)
      .block(kB, 512, 300, BlockState::active_allocated);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.size), ElementsAre(300, 500));  // last discovered is lowest
  EXPECT_THAT(list(found.level), IsEmpty());
  EXPECT_EQ(found.peak_level, 800);
  EXPECT_EQ(found.peak_event, -1);
  EXPECT_EQ(found.final_level, 800);
  EXPECT_EQ(found.reserved.initial, 1024);
  EXPECT_EQ(found.level_after(-1), 800);
}

TEST(BlockLives, AnEmptySnapshotHasNoBlocks) {
  HandTrace trace;
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.count(), 0);
  EXPECT_EQ(found.peak_level, 0);
  EXPECT_EQ(found.peak_event, -1);
}

TEST(BlockLives, BlocksFromTheStartAreStackedInReverseOrderOfDiscovery) {
  // Discovered: A (freed at event 1), B (freed at event 2), then the final blocks C and D in file order.
  HandTrace trace;
  trace.alloc(kC + 1024, 9).complete(kA, 1).complete(kB, 2);
  trace.segment(kC, 1024)
      .block(kC, 512, 3, BlockState::active_allocated)
      .block(kC + 512, 512, 4, BlockState::active_allocated);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.size), ElementsAre(4, 3, 2, 1, 9));
  EXPECT_THAT(list(found.freed), ElementsAre(3, 3, 2, 1, 3));
  EXPECT_THAT(list(found.source), ElementsAre(1, 0, -1, -1));
  EXPECT_THAT(list(found.level), ElementsAre(19, 18, 16));
}

TEST(BlockLives, AnAllocAtALiveAddressEndsTheEarlierBlock) {
  HandTrace trace;
  trace.alloc(kA, 100).alloc(kA, 30).complete(kA, 30);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.size), ElementsAre(100, 30));
  EXPECT_THAT(list(found.freed), ElementsAre(1, 2));
  EXPECT_THAT(list(found.level), ElementsAre(100, 30, 0));
  EXPECT_THAT(list(found.version), ElementsAre(0, 0));  // no free was completed in between
  EXPECT_EQ(count_of(found, Diag::alloc_of_live_address), 1);
}

TEST(BlockLives, ASecondFreeIsAnotherBlockFromTheStart) {
  HandTrace trace;
  trace.alloc(kA, 100).complete(kA, 100).complete(kA, 60);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.size), ElementsAre(60, 100));
  EXPECT_THAT(list(found.version), ElementsAre(1, 0));
  EXPECT_THAT(list(found.level), ElementsAre(160, 60, 0));
}

TEST(BlockLives, WithoutCompletionsTheRequestIsTheFree) {
  HandTrace trace;
  trace.alloc(kA, 100).request(kA, 100).alloc(kA, 50);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.freed), ElementsAre(1, 3));
  EXPECT_THAT(list(found.level), ElementsAre(100, 0, 50));
  EXPECT_THAT(list(found.version), ElementsAre(0, 1));
  EXPECT_THAT(list(found.pending.event), IsEmpty());
  EXPECT_EQ(count_of(found, Diag::requests_only), 1);
}

TEST(BlockLives, ASingleCompletionMakesRequestsMereRequests) {
  HandTrace trace;
  trace.alloc(kA, 100).request(kA, 100).complete(kB, 5);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.freed), ElementsAre(2, 3));
  EXPECT_THAT(list(found.level), ElementsAre(105, 105, 100));
}

TEST(BlockLives, TheVersionCountsCompletedFreesOfTheAddress) {
  HandTrace trace;
  trace
      .complete(kA, 10)  // b'A_0, from the start
      .alloc(kA, 20)
      .complete(kA, 20)                                                     // b'A_1
      .alloc(kA, 30)                                                        // b'A_2
      .alloc(kB, 40);                                                       // b'B_0
  trace.segment(kC, 512).block(kC, 512, 50, BlockState::active_allocated);  // b'C_0
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.size), ElementsAre(50, 10, 20, 30, 40));
  EXPECT_THAT(list(found.version), ElementsAre(0, 0, 1, 2, 0));
}

TEST(BlockLives, VersionsAreCountedPerDevice) {
  // PyTorch's viewer counts by address only, so that one device changes the names of another.
  HandTrace trace;
  trace.alloc(kA, 1).complete(kA, 1).alloc(kA, 1).complete(kA, 1);  // device 0: events 0 to 3
  trace.alloc(kA, 1).complete(kA, 1);                               // device 1: 4 and 5
  model::Part& part = trace.recording.parts[0];
  part.traces = {{0, {0, 4}}, {1, {4, 2}}};
  const auto first = find_block_lives(trace.recording, part, 0);
  const auto second = find_block_lives(trace.recording, part, 1);
  ASSERT_TRUE(first && second);
  EXPECT_THAT(list(first->version), ElementsAre(0U, 1U));
  EXPECT_THAT(list(second->version), ElementsAre(0U));
}

TEST(BlockLives, ThePeakIsTheEarliestOfEqualLevels) {
  // Levels 5 + 5 = 10 from the start, 5, 10, 5, 10: the initial state is first.
  HandTrace trace;
  trace.complete(kA, 5).alloc(kA, 5).complete(kA, 5).alloc(kA, 5);
  trace.segment(kB, 512).block(kB, 512, 5, BlockState::active_allocated);
  const BlockLives initial = lifetimes_of(trace);
  EXPECT_EQ(initial.peak_level, 10);
  EXPECT_EQ(initial.peak_event, -1);

  HandTrace later;
  later.alloc(kA, 5).complete(kA, 5).alloc(kA, 5);
  EXPECT_EQ(lifetimes_of(later).peak_event, 0);
}

TEST(BlockLives, ReservedBeginsWhereTheEventsLeadBackTo) {
  // At the end 100; the trace mapped 60 and freed 10: before it there were 100 - 60 + 10 = 50.
  HandTrace trace;
  trace.event(Action::segment_map, kA, 60).alloc(kA, 1).event(Action::segment_free, kB, 10);
  trace.segment(kA, 100);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.reserved.initial, 50);
  EXPECT_THAT(list(found.reserved.event), ElementsAre(0, 2));
  EXPECT_THAT(list(found.reserved.value), ElementsAre(110, 100));
  EXPECT_EQ(found.reserved.at(-1), 50);
  EXPECT_EQ(found.reserved.at(0), 110);
  EXPECT_EQ(found.reserved.at(1), 110);
  EXPECT_EQ(found.reserved.at(7), 100);
}

TEST(BlockLives, ReservedIsNeverNegative) {
  // No segments in the file: -60 before the first event is shown as 0.
  HandTrace trace;
  trace.event(Action::segment_alloc, kA, 60).event(Action::segment_free, kA, 70);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.reserved.initial, 10);
  EXPECT_THAT(list(found.reserved.value), ElementsAre(70, 0));

  HandTrace grown;
  grown.event(Action::segment_alloc, kA, 60);
  EXPECT_EQ(lifetimes_of(grown).reserved.initial, 0);
}

TEST(BlockLives, PendingBytesLastFromTheRequestToTheCompletion) {
  // A is requested at 2 and completed at 4; B's pair at 3 and 5 is cut by A's completion, too.
  HandTrace trace;
  trace.alloc(kA, 100).alloc(kB, 7).request(kA, 100).request(kB, 7).complete(kA, 100).complete(kB, 7);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.pending.event), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(list(found.pending.value), ElementsAre(100, 107, 7, 0));
}

TEST(BlockLives, AdjacentPairsAreNotPending) {
  HandTrace trace;
  trace.alloc(kA, 100).request(kA, 100).complete(kA, 100);
  EXPECT_THAT(list(lifetimes_of(trace).pending.event), IsEmpty());
}

TEST(BlockLives, ABlockFromTheStartCanBePending) {
  HandTrace trace;
  trace.request(kA, 100).alloc(kB, 1).complete(kA, 100);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.pending.event), ElementsAre(0, 2));
  EXPECT_THAT(list(found.pending.value), ElementsAre(100, 0));
}

// Events: 0 request, 1 to 2000 other blocks, 2001 completion.
TEST(BlockLives, ARequestIsKnownHoweverEarlyItWas) {
  HandTrace trace;
  trace.request(1, 100);
  for (uint64_t i = 0; i < 2000; ++i) trace.alloc(1000 + i, 1);
  trace.complete(1, 100);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.requested(trace.recording, 0), 0);
  EXPECT_EQ(found.requested(trace.recording, 1), -1);  // nobody asked
}

TEST(BlockLives, WhoseRequestItIs) {
  HandTrace trace;
  trace.alloc(1, 10).request(1, 10).complete(1, 10);              // 0 to 2: right before the completion
  trace.alloc(1, 20).request(1, 20).alloc(2, 5).complete(1, 20);  // 3 to 6: earlier
  trace.event(trace::Action::free, 2, 5);                         // 7: both at once
  trace.alloc(3, 7).complete(3, 7);                               // 8, 9: without one
  trace.alloc(4, 8).request(4, 8);                                // 10, 11: not completed
  const BlockLives found = lifetimes_of(trace);
  std::vector<int32_t> requests;
  for (int32_t rank = 0; rank < found.count(); ++rank)
    requests.push_back(found.requested(trace.recording, rank));
  EXPECT_EQ(requests, (std::vector<int32_t>{1, 4, 7, -1, 11}));
}

// The final state has the second block, not the first, and the third as pending.
TEST(BlockLives, BlocksThatNothingFreedAndTheEndDoesNotHaveAreCounted) {
  HandTrace trace;
  trace.alloc(0x1000, 512).alloc(0x1200, 512).alloc(0x1400, 512).alloc(0x9000, 512);
  EXPECT_EQ(count_of(lifetimes_of(trace), Diag::alloc_without_end), 0);  // without segments nothing is known
  trace.segment(0x1000, 2048);
  trace.block(0x1000, 512, 512, BlockState::inactive);
  trace.block(0x1200, 512, 512, BlockState::active_allocated);
  trace.block(0x1400, 512, 512, BlockState::active_pending_free);
  EXPECT_EQ(count_of(lifetimes_of(trace), Diag::alloc_without_end), 2);
}

TEST(BlockLives, ARequestOfNothingIsNotPending) {
  // B is unknown and then allocated; C is unknown to the end; A is requested twice and counts once.
  HandTrace trace;
  trace.alloc(kA, 100).request(kB, 5).request(kC, 6).alloc(kB, 5).request(kA, 100).request(kA, 100).complete(
      kB, 5);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.pending.event), ElementsAre(4));
  EXPECT_THAT(list(found.pending.value), ElementsAre(100));
}

TEST(BlockLives, AnAllocAtAPendingAddressEndsThePendingBlock) {
  HandTrace trace;
  trace.alloc(kA, 100).request(kA, 100).alloc(kA, 5).complete(kB, 1);
  const BlockLives found = lifetimes_of(trace);
  // B's request is lost, as the trace writes requests: it waits from the start.
  EXPECT_EQ(found.pending.initial, 1);
  EXPECT_THAT(list(found.pending.event), ElementsAre(1, 2, 3));
  EXPECT_THAT(list(found.pending.value), ElementsAre(101, 1, 0));
}

// A ring of the newest events begins with completions. B's request is there; C is no older than A, at whose address
// it was; D's free is both.
TEST(BlockLives, ABlockWhoseRequestIsLostWaitsFromTheStart) {
  HandTrace trace;
  trace.complete(kA, 100).request(kB, 7).complete(kB, 7).complete(kA, 30).event(Action::free, kC, 5);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.initial_level, 142);
  EXPECT_EQ(found.pending.initial, 100);
  EXPECT_THAT(list(found.pending.event), ElementsAre(0));
  EXPECT_THAT(list(found.pending.value), ElementsAre(0));
}

TEST(BlockLives, WhereNoRequestsAreWrittenNoneIsLost) {
  HandTrace trace;
  trace.complete(kA, 100).alloc(kB, 5).complete(kB, 5);
  EXPECT_EQ(lifetimes_of(trace).pending.initial, 0);
  HandTrace unknown;
  unknown.complete(kA, 100).alloc(kB, 5);  // nothing says that they are not
  EXPECT_EQ(lifetimes_of(unknown).pending.initial, 100);
}

// Of B nothing says since when it waits: after the last event it does. A hostile file says so twice.
TEST(BlockLives, ABlockThatWaitsInTheEndIsPendingThen) {
  HandTrace trace;
  trace.alloc(kA, 100).alloc(kB, 7).request(kA, 100).alloc(kC, 1).request(kC, 1).complete(kC, 1);
  trace.segment(kA, 4096).block(kA, 512, 100, BlockState::active_pending_free);
  trace.block(kB, 512, 7, BlockState::active_pending_free);
  trace.block(kB, 512, 7, BlockState::active_pending_free);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.pending.event), ElementsAre(2, 5));
  EXPECT_THAT(list(found.pending.value), ElementsAre(100, 107));
}

TEST(BlockLives, ASizeBeyondTheLargestLevelCountsAsNothing) {
  HandTrace trace;
  trace.alloc(kA, kMaxLevel - 1).alloc(kB, 2).alloc(kC, 1).alloc(kC + 512, INT64_MAX).complete(kB, INT64_MAX);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.size), ElementsAre(kMaxLevel - 1, 0, 1, 0));
  EXPECT_EQ(found.peak_level, kMaxLevel);
  EXPECT_EQ(found.peak_event, 2);
  EXPECT_EQ(count_of(found, Diag::level_overflow), 2);
}

TEST(BlockLives, AbsurdSegmentSizesSaturate) {
  HandTrace trace;
  trace.event(Action::segment_free, kA, INT64_MAX).event(Action::segment_free, kA, INT64_MAX);
  trace.segment(kA, INT64_MAX).segment(kB, INT64_MAX);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_EQ(found.reserved.initial, kMaxLevel);
  EXPECT_EQ(found.reserved.at(1), 0);
}

TEST(BlockLives, OtherActionsDoNotTouchBlocks) {
  // The address of an oom is the number of free bytes, here equal to a live address.
  HandTrace trace;
  trace.alloc(kA, 100)
      .event(Action::oom, kA, 1 << 30)
      .event(Action::snapshot, 0, 100)
      .event(Action::annotate, kA, 100)
      .event(Action::first_unknown, kA, 100)
      .complete(kA, 100);
  const BlockLives found = lifetimes_of(trace);
  EXPECT_THAT(list(found.freed), ElementsAre(5));
  EXPECT_THAT(list(found.level), ElementsAre(100, 100, 100, 100, 100, 0));
}

TEST(BlockLives, TheBlockOfAnAllocEventIsFound) {
  HandTrace trace;
  trace.complete(kA, 1).alloc(kA, 2).complete(kA, 2).alloc(kB, 3);
  const BlockLives found = lifetimes_of(trace);
  std::vector<int32_t> ranks;
  for (int32_t event = -1; event <= 4; ++event) ranks.push_back(found.rank_born_at(event));
  EXPECT_THAT(ranks, ElementsAre(-1, -1, 1, -1, 2, -1));
}

TEST(BlockLives, TooLittleMemoryIsRefusedWithTheSizeThatIsMissing) {
  HandTrace trace;
  for (uint64_t i = 0; i < 10'000; ++i) trace.alloc(i * 512, 1);
  ASSERT_TRUE(trace.ok());
  const int64_t used = trace.budget.used();
  int refusals = 0;
  for (int64_t spare = 0; spare < 1'000'000; spare += 20'011) {
    const int64_t taken = trace.budget.limit() - used - spare;
    ASSERT_TRUE(trace.budget.take(taken));
    const auto found = trace.lifetimes();
    if (!found.has_value()) {
      ++refusals;
      EXPECT_EQ(found.error().code, ErrorCode::limit_exceeded);
      EXPECT_THAT(found.error().message, testing::HasSubstr("at least"));
      EXPECT_EQ(trace.budget.used(), used + taken);  // everything was given back
    }
    trace.budget.give_back(taken);
  }
  EXPECT_GT(refusals, 10);
  EXPECT_TRUE(trace.lifetimes().has_value());
}

TEST(BlockLives, LevelsThatDoNotFitAreRefusedWhereTheBlocksWould) {
  // 10,003 levels of 8 bytes, one block.
  HandTrace trace;
  trace.alloc(kA, 1);
  for (int i = 0; i < 10'000; ++i) trace.event(Action::snapshot, 0, 0);
  trace.request(kA, 1).complete(kA, 1);
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(trace.budget.take(trace.budget.limit() - trace.budget.used() - 50'000));
  const auto found = trace.lifetimes();
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace gpustrata::replay
