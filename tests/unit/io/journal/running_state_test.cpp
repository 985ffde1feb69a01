// The state that follows from an allocator's events is the allocator's own, whatever its settings.
#include "engine/io/journal/running_state.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "engine/alloc/device_allocator.h"
#include "engine/alloc/simulated_device.h"

namespace gpustrata::tests {
namespace {

using namespace io::journal;

constexpr int64_t kMiB = int64_t{1} << 20;

EventRecord record_of(const trace::TraceEvent& event) {
  EventRecord record{};
  record.head = head_of<EventRecord>(RecordKind::event, 3);
  record.address = event.address;
  record.size = event.size;
  record.stream = event.stream;
  record.graph_id = event.pool.graph_id;
  record.user_id = event.pool.user_id;
  record.stack = record.context = record.metadata = -1;
  record.action = static_cast<uint32_t>(event.action);
  return record;
}

struct Follower final : trace::EventSink {
  void on_event(const trace::TraceEvent& event) override { EXPECT_TRUE(state.apply(record_of(event))); }
  Budget budget{int64_t{1} << 30};
  RunningState state{budget};
};

using Ranges = std::map<uint64_t, std::tuple<int64_t, int64_t, bool>>;

// Mapped ranges: address -> (bytes, stream, small); live blocks: address -> (bytes, requested, pending).
std::pair<Ranges, Ranges> ranges_of(const alloc::MemoryState& state) {
  Ranges segments, blocks;
  for (const alloc::SegmentId id : state.segments()) {
    const alloc::Segment& segment = state.segment(id);
    uint64_t start = 0, end = 0;
    for (alloc::BlockId at = segment.first; !at.is_none(); at = state.block(at).next) {
      const alloc::Block& block = state.block(at);
      if (!block.mapped) continue;
      if (block.address != end) start = block.address;
      end = block.end();
      segments[start] = {static_cast<int64_t>(end - start), segment.stream, segment.small};
      if (block.is_active())
        blocks[block.address] = {block.size, block.requested_size,
                                 block.state == alloc::BlockState::active_pending_free};
    }
  }
  return {segments, blocks};
}

std::pair<Ranges, Ranges> ranges_of(const RunningState::Device& device) {
  Ranges segments, blocks;
  for (const auto& [address, one] : device.segments)
    segments[address] = {one.size, one.stream, one.pool_size == SegmentSize::small};
  for (const auto& [address, one] : device.blocks)
    blocks[address] = {one.size, one.requested_size, one.pending != 0};
  return {segments, blocks};
}

class RunningStateTest : public testing::TestWithParam<const char*> {};

TEST_P(RunningStateTest, IsTheAllocatorsAfterEveryCall) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    alloc::SimulatedDevice device(600 * kMiB);
    Budget budget(int64_t{1} << 30);
    Follower follower;
    if (*GetParam() != 0) {
      ASSERT_TRUE(alloc::apply_settings(follower.state.config, GetParam()));
    }
    follower.state.begin(3);
    alloc::DeviceAllocator allocator(device, 3, follower.state.config, &follower, budget);
    std::vector<uint64_t> live;
    for (int call = 0; call < 400; ++call) {
      const auto what = random() % 20;
      if (what < 10) {
        const int64_t largest = random() % 3 == 0 ? 40 * kMiB : random() % 2 == 0 ? 2 * kMiB : 4096;
        const auto size = 1 + static_cast<int64_t>(random()) % largest;
        if (const auto address = allocator.malloc(size, static_cast<int64_t>(random() % 2), {}))
          live.push_back(*address);
      } else if (what < 18 && !live.empty()) {
        const size_t which = random() % live.size();
        if (random() % 4 == 0) (void)allocator.record_stream(live[which], 2);
        ASSERT_TRUE(allocator.free(live[which], {}));
        live[which] = live.back();
        live.pop_back();
      } else if (what == 18) {
        device.finish(2);
      } else if (random() % 4 == 0) {
        allocator.empty_cache();
      }
      ASSERT_EQ(follower.state.contradictions(), 0) << "seed " << seed << ", call " << call;
      ASSERT_EQ(ranges_of(follower.state.devices().at(3)), ranges_of(allocator.state()))
          << "seed " << seed << ", call " << call;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, RunningStateTest,
                         testing::Values("", "expandable_segments:True", "max_split_size_mb:32",
                                         "roundup_power2_divisions:8"));

TEST(RunningState, WhatContradictsItChangesNothingAndIsCounted) {
  Budget budget(int64_t{1} << 20);
  {
    RunningState state(budget);
    const auto apply = [&](trace::Action action, uint64_t address, int64_t size) {
      trace::TraceEvent event;
      event.action = action;
      event.address = address;
      event.size = size;
      EXPECT_TRUE(state.apply(record_of(event)));
    };
    apply(trace::Action::alloc, 512, 512);  // nothing is known yet
    EXPECT_EQ(state.contradictions(), 0);
    state.begin(3);
    apply(trace::Action::segment_alloc, 0, 2 * kMiB);
    apply(trace::Action::alloc, 512, 512);
    apply(trace::Action::alloc, 512, 512);                 // lives
    apply(trace::Action::alloc, 0, 1024);                  // reaches into it
    apply(trace::Action::alloc, 4 * kMiB, 512);            // outside
    apply(trace::Action::free_completed, 1024, 512);       // not there
    apply(trace::Action::segment_alloc, kMiB, 2 * kMiB);   // overlaps
    apply(trace::Action::segment_free, 8, 2 * kMiB);       // not there
    apply(trace::Action::segment_unmap, kMiB, 4 * kMiB);   // longer than what is there
    apply(trace::Action::segment_alloc, UINT64_MAX, 512);  // ends beyond all addresses
    EXPECT_EQ(state.contradictions(), 8);
    const auto& device = state.devices().at(3);
    EXPECT_EQ(device.segments.size(), 1U);
    EXPECT_EQ(device.blocks.size(), 1U);
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace gpustrata::tests
