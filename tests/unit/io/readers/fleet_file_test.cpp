// A reduced fleet is kept as text for the page; tests/web/fleet_file.test.ts checks what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/io/any_reader.h"
#include "engine/io/limits.h"
#include "tests/unit/files.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {
namespace {

using testing::HasSubstr;

std::string file_of_python() { return file_bytes(test_path("data/fleet/small.json")); }

TEST(FleetFile, ItsTextIsKeptUpToItsLastBrace) {
  const std::string text = file_of_python();
  const std::string padded = text + std::string("\r\n\0\0", 4);
  for (const size_t chunk : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
    const auto file = read_any(padded, {.chunk = chunk});
    ASSERT_TRUE(file->status) << file->status.error().message;
    ASSERT_EQ(file->recording.fleets.size(), 1U);
    const auto kept = file->recording.fleets[0].span();
    EXPECT_EQ(std::string(kept.begin(), kept.end()), text.substr(0, text.rfind('}') + 1));
    ASSERT_EQ(file->recording.parts.size(), 1U);
    EXPECT_EQ(file->recording.parts[0].kind, model::PartKind::fleet);
    EXPECT_TRUE(file->recording.parts[0].capabilities.fleet);
    EXPECT_THAT(file->recording.parts[0].told_by, HasSubstr("\"gpustrata_fleet\" at byte 2"));
    EXPECT_FALSE(file->recording.diagnostics.any());
  }
}

TEST(FleetFile, OneThatEndsEarlyIsRefusedWithTheByte) {
  const std::string text = file_of_python();
  for (const size_t size : {size_t{20}, size_t{300}, text.rfind('}')}) {
    const auto file = read_any(std::string_view(text).substr(0, size));
    ASSERT_FALSE(file->status) << size;
    EXPECT_EQ(file->status.error().code, ErrorCode::truncated) << size;
    EXPECT_EQ(file->status.error().offset, static_cast<int64_t>(size));
    EXPECT_THAT(file->status.error().message, HasSubstr("ends in the middle"));
  }
}

TEST(FleetFile, OneThatIsTooLongIsRefused) {
  const std::string text = file_of_python();
  const std::string padding(size_t{1} << 20, ' ');
  Budget budget(int64_t{1} << 30);
  model::Recording recording(budget);
  io::AnyReader reader(recording);
  Status status = io::push(reader, std::as_bytes(std::span(text)));
  for (size_t bytes = text.size(); status && bytes <= io::kMostFleetBytes; bytes += padding.size())
    status = io::push(reader, std::as_bytes(std::span(padding)));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(status.error().message, HasSubstr("more than 128.0 MiB"));
}

TEST(FleetFile, LittleMemoryIsSaidAndGivenBack) {
  const std::string text = file_of_python();
  Budget budget(int64_t{1} << 12);
  {
    model::Recording recording(budget);
    io::AnyReader reader(recording);
    Status status = io::push(reader, std::as_bytes(std::span(text)));
    if (status) status = reader.finish();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::limit_exceeded);
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace gpustrata::tests
