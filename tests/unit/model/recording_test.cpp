#include "engine/model/recording.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/unit/processor_limit.h"

namespace gpustrata::model {
namespace {

class RecordingTest : public ::testing::Test {
 protected:
  bool add_segment(int32_t device) {
    SegmentTable::Row row;
    row.device = device;
    return recording.segments.append(row);
  }
  bool add_extra(Owner owner, int32_t row, std::string_view key) {
    return recording.extras.append(
        {owner, row, recording.strings.intern(key), recording.strings.intern("1")});
  }
  [[nodiscard]] std::vector<std::string_view> keys_of(Owner owner, int32_t row) const {
    std::vector<std::string_view> keys;
    const RowRange range = recording.extras_of(owner, row);
    for (int32_t i = range.first; i < range.end(); ++i) {
      keys.push_back(recording.strings.view(recording.extras.key[static_cast<size_t>(i)]));
    }
    return keys;
  }

  Budget budget{1 << 26};
  Recording recording{budget};
};

TEST_F(RecordingTest, HandleZeroAndTheDefaultPoolComeFirst) {
  EXPECT_EQ(recording.streams, std::vector<int64_t>{0});
  EXPECT_EQ(recording.stream_of(0).value, 0);
  EXPECT_EQ(recording.stream_of(-5).value, 1);
  EXPECT_EQ(recording.stream_of(7).value, 2);
  EXPECT_EQ(recording.stream_of(-5).value, 1);
  EXPECT_EQ(recording.pool_of({0, 0}).value, 0);
  EXPECT_EQ(recording.pool_of({0, 3}).value, 1);
  EXPECT_EQ(recording.pool_of({3, 0}).value, 2);
}

TEST_F(RecordingTest, StreamsBeyondTheLimitShareTheLastId) {
  for (int64_t handle = 1; handle < 32768; ++handle) ASSERT_EQ(recording.stream_of(handle).value, handle);
  EXPECT_FALSE(recording.diagnostics.any());
  EXPECT_EQ(recording.stream_of(1'000'000).value, 32767);
  EXPECT_EQ(recording.stream_of(2'000'000).value, 32767);
  EXPECT_EQ(recording.diagnostics[Diag::too_many_streams].count, 2);
  EXPECT_EQ(recording.streams.size(), 32768u);
}

TEST_F(RecordingTest, UnknownActionsKeepTheirName) {
  recording.unknown_actions.push_back(recording.strings.intern("teleport"));
  EXPECT_EQ(recording.action_name(trace::Action::first_unknown), "teleport");
  EXPECT_EQ(recording.action_name(trace::Action::oom), "oom");
  EXPECT_EQ(recording.action_name(static_cast<trace::Action>(255)), "");
}

TEST_F(RecordingTest, ExtrasAreFoundByOwnerAndRowInTheOrderOfTheFile) {
  ASSERT_TRUE(add_extra(Owner::event, 5, "z") && add_extra(Owner::segment, 9, "s") &&
              add_extra(Owner::event, 2, "x") && add_extra(Owner::event, 5, "a") &&
              add_extra(Owner::part, 0, "top"));
  recording.seal();
  EXPECT_EQ(keys_of(Owner::event, 5), (std::vector<std::string_view>{"z", "a"}));
  EXPECT_EQ(keys_of(Owner::event, 2), std::vector<std::string_view>{"x"});
  EXPECT_EQ(keys_of(Owner::segment, 9), std::vector<std::string_view>{"s"});
  EXPECT_EQ(keys_of(Owner::part, 0), std::vector<std::string_view>{"top"});
  EXPECT_TRUE(keys_of(Owner::event, 3).empty());
  EXPECT_TRUE(keys_of(Owner::block, 5).empty());
}

TEST_F(RecordingTest, SealingGivesUnusedMemoryBack) {
  ASSERT_TRUE(recording.events.reserve(10'000));
  const int64_t before = budget.used();
  recording.seal();
  EXPECT_LE(budget.used(),
            before - 10'000 * 13);  // an action, an address and a stack; the rest takes nothing ahead
}

TEST_F(RecordingTest, DevicesAreThoseWithSegmentsOrEvents) {
  ASSERT_TRUE(add_segment(4) && add_segment(1) && add_segment(4));
  Part part;
  part.segments = {0, 3};
  part.traces = {{0, {0, 0}}, {1, {0, 2}}, {2, {2, 5}}};
  EXPECT_EQ(part.devices(recording.segments), (std::vector<int32_t>{1, 2, 4}));
  EXPECT_EQ(part.events_of(2), (RowRange{2, 5}));
  EXPECT_EQ(part.events_of(4), RowRange{});
  part.segments = {1, 1};
  EXPECT_EQ(part.devices(recording.segments), (std::vector<int32_t>{1, 2}));
}

TEST_F(RecordingTest, InventedDevicesAreNotListedButCounted) {
  for (int32_t device = 0; device < 2000; ++device) ASSERT_TRUE(add_segment(device));
  recording.parts.emplace_back().segments = {0, 2000};
  recording.seal();
  EXPECT_EQ(recording.parts[0].devices(recording.segments).size(), kMaxDevices);
  EXPECT_EQ(recording.diagnostics[Diag::too_many_devices].count, 2000 - static_cast<int64_t>(kMaxDevices));
}

TEST_F(RecordingTest, AFilesSnapshotsShareTheLimitOfDevices) {
  for (int32_t device = 0; device < 600; ++device) ASSERT_TRUE(add_segment(device));
  for (int i = 0; i < 3; ++i) recording.parts.emplace_back().segments = {0, 600};
  recording.seal();
  EXPECT_EQ(recording.parts[0].devices(recording.segments).size(), 600u);
  EXPECT_EQ(recording.parts[1].devices(recording.segments).size(), kMaxDevices - 600);
  EXPECT_TRUE(recording.parts[2].devices(recording.segments).empty());
  EXPECT_EQ(recording.diagnostics[Diag::too_many_devices].count, 1800 - static_cast<int64_t>(kMaxDevices));
}

TEST_F(RecordingTest, DevicesThatShareAllTheirEventsAreListedAFewTimes) {
  // 2^16 events: 2^22 + 16 * 2^16 rows may be looked at, room for 64 + 16 lists of them.
  for (int i = 0; i < 1 << 16; ++i) ASSERT_TRUE(recording.events.append({}));
  Part part;
  for (int32_t device = 0; device < 100; ++device) part.traces.push_back({device, {0, 1 << 16}});
  recording.parts.push_back(part);
  recording.seal();
  EXPECT_EQ(recording.parts[0].devices(recording.segments).size(), 80u);
  EXPECT_EQ(recording.diagnostics[Diag::too_many_devices].count, 20);
}

TEST_F(RecordingTest, APartSaysWhatItHolds) {
  ASSERT_TRUE(recording.events.append({}));  // of part 0: bare
  EventTable::Row event;
  event.time = 7;
  event.pool = recording.pool_of({0, 0});
  event.stack = recording.stacks.intern({});    // no frames: not worth a flame graph
  ASSERT_TRUE(recording.events.append(event));  // of part 1
  const std::vector<FrameId> frames = {recording.frames.intern({})};
  ASSERT_TRUE(recording.blocks.append({.stack = recording.stacks.intern(frames)}));
  ASSERT_TRUE(recording.segments.append({.blocks = {0, 1}}));  // of part 2
  ASSERT_TRUE(add_extra(Owner::event, 1, "category"));
  recording.parts.resize(4);
  recording.parts[0].traces = {{0, {0, 1}}};
  recording.parts[1].host_events = {1, 1};
  recording.parts[2].segments = {0, 1};
  recording.parts[3].settings_json = recording.strings.intern("{}");
  recording.parts[3].annotations = {0, 0};
  recording.seal();
  EXPECT_EQ(recording.parts[0].capabilities, (Capabilities{.events = true}));
  EXPECT_EQ(recording.parts[1].capabilities,
            (Capabilities{.events = true, .times = true, .pools = true, .categories = true}));
  EXPECT_EQ(recording.parts[2].capabilities, (Capabilities{.stacks = true, .final_state = true}));
  EXPECT_EQ(recording.parts[3].capabilities, (Capabilities{.settings = true}));
}

TEST_F(RecordingTest, WhatThousandsOfPartsShareIsLookedForAFewTimes) {
  // No event has a time. Looking at all of them for each part would be 50,000 * 2^20 rows, three times over: 1.6 * 10^11.
  for (int i = 0; i < 1 << 20; ++i) ASSERT_TRUE(recording.events.append({}));
  Part part;
  part.traces = {{0, {0, 1 << 20}}};
  recording.parts.assign(50'000, part);
  const tests::ProcessorLimit limit;
  recording.seal();
  EXPECT_EQ(recording.parts[49'999].capabilities, (Capabilities{.events = true}));
}

TEST_F(RecordingTest, OnlySeriesWithAClockHaveTimes) {
  ASSERT_TRUE(recording.points.append({.time = 0, .value = 5}));
  ASSERT_TRUE(recording.series.append({.name = recording.strings.intern("allocated"), .points = {0, 1}}));
  recording.parts.resize(3);
  recording.parts[0].series = {0, 1};
  recording.parts[1].series = {0, 1};
  recording.parts[1].has_clock = false;
  recording.seal();
  EXPECT_EQ(recording.parts[0].capabilities, (Capabilities{.times = true, .series = true}));
  EXPECT_EQ(recording.parts[1].capabilities, (Capabilities{.series = true}));
  EXPECT_EQ(recording.parts[2].capabilities, Capabilities{});
}

}  // namespace
}  // namespace gpustrata::model
