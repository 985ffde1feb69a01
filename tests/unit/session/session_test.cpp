#include "engine/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace memstrata::session {
namespace {

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

}  // namespace
}  // namespace memstrata::session
