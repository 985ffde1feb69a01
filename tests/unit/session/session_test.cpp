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

}  // namespace
}  // namespace memstrata::session
