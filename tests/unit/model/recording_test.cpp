#include "engine/model/recording.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace memstrata::model {
namespace {

class RecordingTest : public ::testing::Test {
 protected:
  bool add_segment(int32_t device) {
    SegmentTable& s = recording.segments;
    return s.device.push_back(device) && s.address.push_back(0) && s.total_size.push_back(0) &&
           s.allocated_size.push_back(0) && s.active_size.push_back(0) && s.requested_size.push_back(0) &&
           s.stream.push_back(StreamId{}) && s.pool.push_back({}) && s.type.push_back({}) &&
           s.expandable.push_back({}) && s.stack.push_back({}) && s.metadata.push_back({}) &&
           s.blocks.push_back({});
  }
  bool add_extra(Owner owner, int32_t row, std::string_view key) {
    ExtraTable& extras = recording.extras;
    return extras.owner.push_back(owner) && extras.row.push_back(row) &&
           extras.key.push_back(recording.strings.intern(key)) &&
           extras.value.push_back(recording.strings.intern("1"));
  }
  [[nodiscard]] std::vector<std::string_view> keys_of(Owner owner, int32_t row) const {
    std::vector<std::string_view> keys;
    const RowRange range = recording.extras_of(owner, row);
    for (int32_t i = range.first; i < range.end(); ++i) {
      keys.push_back(recording.strings.view(recording.extras.key[static_cast<size_t>(i)]));
    }
    return keys;
  }

  Budget budget{1 << 24};
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
  EXPECT_LE(budget.used(), before - 10'000 * 40);
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
  // The tables are empty, so 2^22 rows may be looked at: room for four lists of 2^20 rows.
  Part part;
  for (int32_t device = 0; device < 9; ++device) part.traces.push_back({device, {0, 1 << 20}});
  recording.parts.push_back(part);
  recording.seal();
  EXPECT_EQ(recording.parts[0].devices(recording.segments), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(recording.diagnostics[Diag::too_many_devices].count, 5);
}

}  // namespace
}  // namespace memstrata::model
