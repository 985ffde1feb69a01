// What lies inside of containers: the golden cases in any chunks and cut anywhere, limits, who is told where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis/report/summary.h"
#include "engine/answers/common/failure.h"
#include "engine/answers/report/summary.h"
#include "engine/answers/text/json_of.h"
#include "engine/io/limits.h"
#include "tests/unit/files.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/processor_limit.h"

namespace gpustrata::tests {
namespace {

using model::Diag;
using ::testing::HasSubstr;
using namespace std::string_literals;

// Everything a client sees.
std::string told(const ReadFile& file) {
  if (!file.status) {
    return answers::json_of(file.status.error());
  }
  const auto summary = analysis::summarize(file.recording);
  return summary ? answers::json_of(*summary, "f") : "no summary";
}

std::vector<std::string> container_cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test_path("golden/torch_snapshot"))) {
    const std::string name = entry.path().filename();
    for (const std::string_view kind : {"gzip", "zstd", "zip", "nested", "html", "json"}) {
      if (name.starts_with(kind) && name != "zstd_bomb") names.push_back(name);
    }
  }
  return names;
}

TEST(Containers, GoldenCasesInAnyChunksAreTheSame) {
  const std::vector<std::string> names = container_cases();
  ASSERT_GT(names.size(), 40U);
  for (const std::string& name : names) {
    const std::string bytes = golden_input(name);
    const std::string whole = told(*read_any(bytes));
    for (const size_t chunk : {1, 7, 64, 1000})
      EXPECT_EQ(told(*read_any(bytes, {.chunk = chunk})), whole) << name;
  }
}

TEST(Containers, CutAnywhereTheyAreInOrderAndTheSameInAnyChunks) {
  constexpr size_t kCuts = 40;
  for (const std::string& name : container_cases()) {
    const std::string bytes = golden_input(name);
    const size_t step = std::max<size_t>(1, bytes.size() / kCuts);
    for (size_t length = 0; length < bytes.size(); length += step) {
      const std::string_view cut = std::string_view(bytes).substr(0, length);
      const auto file = read_any(cut);
      EXPECT_EQ(told(*file), told(*read_any(cut, {.chunk = 61}))) << name << " at " << length;
      if (file->status) {
        EXPECT_EQ(problem_of(file->recording), "") << name << " at " << length;
      }
    }
  }
}

TEST(Containers, SmallBudgetsAreKept) {
  for (const std::string& name : container_cases()) {
    const std::string bytes = golden_input(name);
    for (const int64_t limit : {int64_t{300} << 10, int64_t{600} << 10, int64_t{3} << 20}) {
      const auto file = read_any(bytes, {.limit = limit});
      EXPECT_LE(file->budget.used(), limit) << name;
      if (file->status) {
        EXPECT_EQ(problem_of(file->recording), "") << name;
      }
    }
  }
}

// A frame of `window_log` that holds one raw block.
std::string zstd_with_window(int window_log, std::string_view data) {
  std::string out = "\x28\xb5\x2f\xfd"s + '\0' + static_cast<char>((window_log - 10) << 3);
  const auto header = static_cast<uint32_t>(data.size() << 3 | 1);
  for (int i = 0; i < 3; ++i) out += static_cast<char>(header >> (8 * i) & 0xFF);
  return out + std::string(data);
}

TEST(Zstd, AWindowIsChargedBeforeItIsTaken) {
  const std::string data = golden_input("protocol4");
  EXPECT_TRUE(read_any(zstd_with_window(21, data))->status);
  const auto file = read_any(zstd_with_window(27, data), {.limit = int64_t{16} << 20});
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(file->status.error().message, HasSubstr("memory"));
}

TEST(Zstd, AWindowOfTooManyBytesComesWithAdvice) {
  const auto file = read_any(zstd_with_window(30, golden_input("protocol4")));
  ASSERT_FALSE(file->status);
  EXPECT_THAT(file->status.error().message, HasSubstr("--long"));
}

// Local headers and data of members; their checksums are wrong.
std::string zip_of(int members, std::string_view name, std::string_view data, uint16_t method = 0) {
  const auto put = [](std::string& out, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xFF);
  };
  std::string out;
  for (int i = 0; i < members; ++i) {
    out += "PK\x03\x04";
    put(out, 20, 2);
    put(out, 0, 2);
    put(out, method, 2);
    put(out, 0, 4);
    put(out, 1, 4);
    put(out, data.size(), 4);
    put(out, data.size(), 4);
    put(out, name.size(), 2);
    put(out, 0, 2);
    out += name;
    out += data;
  }
  return out;
}

TEST(Zip, MembersBeyondTheLimitAreToldAsOne) {
  const std::string zip =
      zip_of(1, "first", golden_input("protocol4")) + zip_of(io::kMaxMembersOfArchive + 5, "x", "hi");
  const auto file = read_any(zip);
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->recording.parts.size(), 1U);
  EXPECT_EQ(file->count(Diag::too_many_members), 1);
}

// 36 KB that make more than 1 GiB: blocks of one repeated byte, 128 KiB each (RFC 8878 section 3.1.1.2).
std::string zstd_bomb() {
  constexpr uint32_t kRepeated = 1 << 1, kBlockBytes = 128 << 10;
  std::string out = "\x28\xb5\x2f\xfd"s + '\0' + static_cast<char>((20 - 10) << 3);
  for (int block = 0; block < 9000; ++block) {
    for (int i = 0; i < 3; ++i) out += static_cast<char>((kBlockBytes << 3 | kRepeated) >> (8 * i) & 0xFF);
    out += 'a';
  }
  return out;
}

TEST(Zip, ABombHidesNoOthersUntilThereIsASecondOne) {
  constexpr uint16_t kZstd = 93;
  const std::string good = golden_input("protocol4");
  for (const uint16_t method : {kZstd, uint16_t{0}}) {  // of the archive, or of a file inside it
    const auto file = read_any(zip_of(1, "bomb", zstd_bomb(), method) + zip_of(1, "good", good) +
                               zip_of(1, "another", zstd_bomb(), method) + zip_of(1, "packed", good, 8));
    ASSERT_TRUE(file->status) << file->status.error().message;
    ASSERT_EQ(file->recording.parts.size(), 1U);
    EXPECT_EQ(file->recording.parts[0].name, "good");
    EXPECT_GE(file->recording.diagnostics[model::Diag::member_not_read].count, 2);
  }
}

TEST(Zip, AFindingIsToldByMemberAndOffsets) {
  // The second snapshot is cut by 10 bytes inside of its member: its pickle ends too early.
  const std::string whole = golden_input("protocol4");
  const std::string first = zip_of(1, "a", whole);
  const auto file = read_any(first + zip_of(1, "b/c", std::string_view(whole).substr(0, whole.size() - 10)) +
                             "PK\x05\x06"s + std::string(18, '\0'));
  ASSERT_TRUE(file->status);
  ASSERT_EQ(file->count(Diag::truncated), 1);
  const auto& found = file->recording.diagnostics[Diag::truncated];
  EXPECT_EQ(found.place.inside, "b/c");
  EXPECT_EQ(found.place.file_offset, static_cast<int64_t>(first.size()));
  EXPECT_EQ(found.first_offset, static_cast<int64_t>(whole.size() - 10));
  EXPECT_THAT(told(*file), HasSubstr("\"first_in\":\"b/c\""));
}

TEST(Zip, EachOfTwoTimelinesHasItsOwnSeries) {
  // Eight categories and their sum.
  constexpr std::string_view kTimeline = "[[1000], [[0, 4096, 0, 0, 0, 0, 0, 0, 0]]]";
  const auto file = read_any(zip_of(1, "a", kTimeline) + zip_of(1, "b", kTimeline));
  ASSERT_TRUE(file->status);
  ASSERT_EQ(file->recording.parts.size(), 2U);
  EXPECT_EQ(file->recording.parts[0].series, (model::RowRange{0, 9}));
  EXPECT_EQ(file->recording.parts[1].series, (model::RowRange{9, 9}));
}

TEST(Zip, WhatAMemberThatIsNoneSaysIsForgotten) {
  // A pickle with a foreign class is no snapshot: its objects are of no interest.
  const std::string other =
      "\x80\x02"
      "cnumpy\nndarray\n.";
  const auto file = read_any(zip_of(1, "a", golden_input("protocol4")) + zip_of(1, "weights.pkl", other));
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::foreign_object), 0);
}

// With what came so far looked at again at each step: 10^11 bytes of the objects in objects, 4 * 10^12 of the others.
TEST(Json, BracketsAndLongValuesCostNoStackAndNoTime) {
  const ProcessorLimit limit;
  EXPECT_FALSE(read_any(std::string(3'000'000, '['))->status);
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "{\"a\":";
  EXPECT_FALSE(read_any(deep)->status);
  EXPECT_FALSE(read_any("[\"" + std::string(3'000'000, 'x'))->status);
  EXPECT_FALSE(read_any("[" + std::string(3'000'000, '1'))->status);
  EXPECT_FALSE(read_any("[" + std::string(3'000'000, ' '))->status);
}

TEST(Json, LongStringsAreCutBetweenCharacters) {
  // Longer than a piece, with escapes and two-byte letters at every place of the cut.
  for (size_t shift = 0; shift < 14; ++shift) {
    std::string text(shift, 'x');
    while (text.size() < io::kJsonPieceBytes + 1000) text += "\\ud83d\\ude00\xC3\xBC\\n";
    const auto file = read_any(
        R"({"segments":[],"device_traces":[[{"action":"alloc","addr":4096,"size":1,"stream":0,"user_metadata":")" +
        text + R"("}]]})");
    ASSERT_TRUE(file->status) << shift;
    EXPECT_EQ(file->count(Diag::long_string_cut), 1);
    EXPECT_EQ(file->count(Diag::invalid_json), 0) << shift;
    EXPECT_EQ(file->count(Diag::not_utf8), 0) << shift;
    ASSERT_EQ(file->recording.events.size_rows(), 1U);
    EXPECT_GT(file->text(file->recording.events.metadata[0]).size(), io::kJsonPieceBytes / 4);
  }
}

TEST(Html, OwnPagesOfEngineAndSnapshotHoldOneSnapshot) {
  // A gzip of something else before it, as the engine in gpustrata.html is.
  const std::string page = golden_input("html_trace_plot");
  const auto file =
      read_any("<html>'H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'" + page);
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->recording.parts.size(), 1U);
  EXPECT_EQ(file->count(Diag::not_a_snapshot), 0);
}

}  // namespace
}  // namespace gpustrata::tests
