#include "engine/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace memstrata::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  void open(const char* golden_case) {
    std::ifstream file(
        std::string(MEMSTRATA_TESTS_FOLDER "/golden/torch_snapshot/") + golden_case + "/input.pickle",
        std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    ASSERT_FALSE(bytes.empty());
    for (size_t at = 0; at < bytes.size();) {
      const std::span<std::byte> room = session.writable();
      const size_t count = std::min(room.size(), bytes.size() - at);
      std::memcpy(room.data(), bytes.data() + at, count);
      ASSERT_TRUE(session.commit(count).has_value());
      at += count;
    }
    ASSERT_TRUE(session.finish().has_value());
  }

  Session session{int64_t{1} << 28};
};

TEST_F(SessionTest, DiagnosticsAreThoseOfTheSummaryOnceADeviceIsOpen) {
  open("wrapped_ring");
  EXPECT_EQ(session.diagnostics_json(), "[]");  // the reader has nothing to report
  ASSERT_TRUE(session.open_view(0, 0).has_value());
  const std::string found = session.diagnostics_json();
  EXPECT_NE(found.find(R"("name":"free_without_alloc")"), std::string::npos) << found;
  const auto summary = session.summary_json("x");
  ASSERT_TRUE(summary.has_value());
  EXPECT_TRUE(summary->ends_with("\"diagnostics\":" + found + "}")) << found;
}

TEST_F(SessionTest, APictureBeyondAnyScreenIsRefused) {
  open("wrapped_ring");
  ASSERT_TRUE(session.open_view(0, 0).has_value());
  const replay::ColumnGrid columns{replay::Axis::event, 0, 1, 9000};
  const auto refused = session.picture(columns, {0, 1, 9000}, false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(session.picture(columns, {0, 1, 10}, false)->size(), 90'000u);
}

TEST_F(SessionTest, LabelsLieInTheBandsOfThePictureThatWasDrawn) {
  open("era3_expandable_and_oom");
  ASSERT_TRUE(session.open_view(0, 0).has_value());
  const replay::ColumnGrid columns{replay::Axis::event, 0, 1, 20};
  EXPECT_EQ(session.labels_json(columns, 1, 1), "[]");  // nothing was drawn yet
  const double peak = static_cast<double>(session.highest_level(columns));
  ASSERT_GT(peak, 0);
  ASSERT_TRUE(session.picture(columns, {0, peak / 100, 100}, false).has_value());
  const std::string labels = session.labels_json(columns, 1, 5);
  ASSERT_NE(labels.find("\"rank\":0"), std::string::npos) << labels;
  // A second picture does not take the first one's place, so that both can be asked about.
  const replay::ColumnGrid coarse{replay::Axis::event, 0, 2, 10};
  ASSERT_TRUE(session.picture(coarse, {0, peak / 10, 10}, false).has_value());
  EXPECT_EQ(session.labels_json(columns, 1, 5), labels);
  EXPECT_NE(session.labels_json(coarse, 1, 1), "[]");
  EXPECT_EQ(session.labels_json({replay::Axis::time, 0, 1, 20}, 1, 1), "[]");
  EXPECT_EQ(session.labels_json(columns, 1, 1000), "[]");
  // Other colours, another picture.
  session.set_palette({}, 0, 0, 0);
  EXPECT_EQ(session.labels_json(columns, 1, 5), "[]");
}

TEST_F(SessionTest, PinnedHostMemoryIsADevice) {
  open("era8_host_memory_and_annotate");
  EXPECT_THAT(session.contents_json(), HasSubstr(R"({"device":-1,"events":3,"segments":2})"));
  const auto device = session.open_view(0, 0);
  ASSERT_TRUE(device.has_value());
  const auto host = session.open_view(0, -1);
  ASSERT_TRUE(host.has_value());
  // 4096 bytes by event 1, 512 by event 2; nothing is freed.
  EXPECT_THAT(*host,
              AllOf(HasSubstr(R"({"device":-1,"events":3,"blocks":2,"from_start":0,)"),
                    HasSubstr(R"("peak":{"bytes":4608,"event":2},"initial_bytes":0,"final_bytes":4608)")));
  EXPECT_THAT(session.block_details_json(0), HasSubstr(R"("address":"0x5000")"));
  const replay::ColumnGrid columns{replay::Axis::event, 0, 1, 3};
  EXPECT_EQ(session.highest_level(columns), 4608);
  EXPECT_EQ(session.picture(columns, {0, 1536, 3}, false)->size(), 9U);
  const auto state = session.open_state();
  ASSERT_TRUE(state.has_value());
  ASSERT_NE(*state, nullptr);
  analysis::EventFilter allocs;
  allocs.actions = "alloc";
  EXPECT_EQ((*state)->filter_events(allocs).value_or(-1), 2);
  EXPECT_THAT(*(*state)->totals_json(1), HasSubstr(R"("allocated":4096)"));
  EXPECT_EQ(*session.marks_json(),
            R"({"regions":[],"regions_left_out":0,"markers":[],"markers_left_out":0})");
}

TEST_F(SessionTest, TheTellingDeviceIsTheFirstShown) {
  open("several_devices");  // peaks of 10, 1 and 33 bytes on devices 0, 2 and 3
  EXPECT_THAT(session.contents_json(), HasSubstr(R"("default":{"snapshot":0,"device":3})"));
}

TEST_F(SessionTest, MarksNeedNoStates) {
  EXPECT_EQ(*session.marks_json(), "null");
  open("oom_and_snapshot_events");
  EXPECT_EQ(*session.marks_json(), "null");  // no view yet
  ASSERT_TRUE(session.open_view(0, 0).has_value());
  const auto marks = session.marks_json();
  ASSERT_TRUE(marks.has_value());
  EXPECT_THAT(*marks, AllOf(HasSubstr(R"("kind":"oom")"), HasSubstr(R"("kind":"snapshot")")));
}

// One private pool of 8192 bytes with a block of 500, and a default block of 800 on top of it.
TEST_F(SessionTest, PoolsAreEnvelopesAndBlocksKeepTheirRanks) {
  open("private_pool");
  const auto plain = session.open_view(0, 0);
  ASSERT_TRUE(plain.has_value());
  EXPECT_NE(plain->find(R"("peak":{"bytes":1300,"event":3})"), std::string::npos) << *plain;
  const auto opened = session.open_pools(0, 0);
  ASSERT_TRUE(opened.has_value());
  EXPECT_NE(opened->find(R"("peak":{"bytes":8992,"event":3})"), std::string::npos) << *opened;
  EXPECT_NE(opened->find(R"("blocks":2,"from_start":0,"pools":1)"), std::string::npos) << *opened;
  const auto pick = [&](int64_t event, double bytes) {
    return session.pick_json(replay::Axis::event, event, 1, bytes);
  };
  EXPECT_NE(pick(2, 499).find(R"("rank":0)"), std::string::npos) << pick(2, 499);
  EXPECT_NE(pick(2, 500).find(R"json("rank":2,"name":"Private Pool (0,1,s0)","size":8192,"active":500)json"),
            std::string::npos)
      << pick(2, 500);
  EXPECT_NE(pick(3, 8192).find(R"("rank":1)"), std::string::npos) << pick(3, 8192);
  EXPECT_NE(pick(5, 8191).find(R"("level":8992,"allocated":800)"), std::string::npos) << pick(5, 8191);
  EXPECT_EQ(session.block_place_json(1, replay::Axis::event),
            R"({"from":3,"to":6,"offset":8192,"size":800})");
  const std::vector<double> edges = session.outline(2, {replay::Axis::event, 1, 1, 3});
  EXPECT_EQ(edges, (std::vector<double>{0, 0, 0, 8192, 8192, 8192}));
  EXPECT_EQ(session.outline(0, {replay::Axis::event, 2, 1, 1}), (std::vector<double>{0, 500}));
  const std::string details = session.block_details_json(2);
  EXPECT_NE(
      details.find(R"("capacity":8192,"reserved_final":8192,"active_final":0,"peak_active":500,"blocks":1)"),
      std::string::npos)
      << details;
  EXPECT_EQ(session.block_details_json(3), "null");
  // Filters and colours mean blocks; the rest is told apart.
  const auto filtered = session.filter("pool:0,1");
  ASSERT_TRUE(filtered.has_value());
  EXPECT_NE(filtered->find(R"("count":1,"bytes":500,"at_peak":500)"), std::string::npos) << *filtered;
  ASSERT_TRUE(session.colour_by("pool").has_value());
  EXPECT_NE(session.shares_json(3).find(R"("unused":7692)"), std::string::npos) << session.shares_json(3);
  ASSERT_TRUE(session.picture({replay::Axis::event, 0, 1, 6}, {0, 100, 90}, true).has_value());
  const std::string labels = session.labels_json({replay::Axis::event, 0, 1, 6}, 2, 10);
  EXPECT_NE(labels.find(R"json("rank":2,"size":8192,"name":"Private Pool (0,1,s0)")json"), std::string::npos)
      << labels;
}

TEST_F(SessionTest, FiltersOfSegmentsLookAtSegments) {
  open("private_pool");
  const auto opened = session.open_segments(0, 0);
  ASSERT_TRUE(opened.has_value());
  const auto count = [&](std::string_view text) {
    const auto found = session.filter(text);
    return found ? found->substr(0, found->find(',')) : found.error().message;
  };
  EXPECT_EQ(count("size>8000"), R"({"count":2)");
  EXPECT_EQ(count("size>9000"), R"({"count":1)");
  EXPECT_EQ(count("pool:0,1"), R"({"count":1)");
  EXPECT_EQ(count("stack:capture"), R"({"count":1)");
  EXPECT_EQ(count("s'7f0000000000"), R"({"count":1)");
  EXPECT_EQ(count("b'7f0000000000"), R"({"count":0)");
  ASSERT_TRUE(session.colour_by("pool").has_value());
}

}  // namespace
}  // namespace memstrata::session
