// Readers of numbers over time: chunks, budgets, and what is kept of the worked examples. Their numbers face a second
// computation in tests/cli.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/io/any_reader.h"
#include "engine/io/readers/series/memory_timeline.h"
#include "engine/io/readers/series/telemetry_csv.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/py.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {
namespace {

using model::Diag;
using testing::HasSubstr;

// As MemoryTracker writes it, but for the defaultdict: {op: (name, MiB)}.
std::string tracker_file(Writer writer) {
  const auto table = [](double offset) {
    std::vector<Py> entries;
    for (int op = 0; op < 3; ++op) {
      entries.emplace_back(op);
      entries.push_back(Py::tuple({Py("layer.forward.mm.default_" + std::to_string(op)), Py(op + offset)}));
    }
    return Py::dict_of(std::move(entries));
  };
  return pickled(Py::dict({{"memories_allocated", table(1.5)},
                           {"memories_active", table(1.5)},
                           {"memories_reserved", table(4)},
                           {"markers", Py::dict({{"fw_start", 0}, {"fw_bw_boundary", 2}})},
                           {"num_alloc_retries", 7},
                           {"op_index", 3}}),
                 writer);
}

constexpr std::string_view kRawTimeline =
    "[[-1, 1, 4096, 0], [1000500, 2, 8192, 4], [2000999, 2, 4096, 5], [3000000, 3, -4096, 0], [3000000, 3, 4096, "
    "0], [3000400, 4, -8192, 4]]";
constexpr std::string_view kPlottedTimeline =
    "[[1000, 1000], [[0, 4096, 0, 0, 0, 0, 0, 0, 0], [0, 4096, 0, 0, 0, 8192, 0, 0, 0]]]";
constexpr std::string_view kTelemetry = R"([{"schema_version": 2, "timestamp_ns": 5, "event_type": "warning",
  "device_id": 1, "allocator_allocated_bytes": 100, "allocator_reserved_bytes": 300, "device_used_bytes": 400,
  "device_free_bytes": null, "device_total_bytes": 1000, "context": "odd", "metadata": {"backend": "cuda"}}])";
constexpr std::string_view kCsv =
    "timestamp,operation,allocated_memory,reserved_memory,device_id\n1.5,\"a \"\"b\"\", c\",100,200,0\r\n2.5,,300,,0\n";

std::string read_in_chunks(std::string_view bytes, size_t chunk, int64_t budget_bytes = int64_t{64} << 20) {
  ReadFile file(budget_bytes);
  io::AnyReader reader(file.recording);
  for (size_t at = 0; at < bytes.size() && file.status; at += chunk) {
    const std::string_view piece = bytes.substr(at, chunk);
    file.status = io::push(reader, std::as_bytes(std::span(piece.data(), piece.size())));
  }
  if (file.status) file.status = reader.finish();
  if (file.status) {
    EXPECT_EQ(problem_of(file.recording), "");
  }
  return text_of(file);
}

TEST(SeriesReaders, ChunksOfAnySizeGiveTheSame) {
  std::vector<std::string> files = {std::string(kRawTimeline), std::string(kPlottedTimeline),
                                    std::string(kTelemetry), std::string(kCsv)};
  for (const Writer writer : kAllWriters) files.push_back(tracker_file(writer));
  for (const std::string& file : files) {
    for (const size_t cut : {file.size(), file.size() - 1, file.size() / 2}) {
      const std::string_view bytes = std::string_view(file).substr(0, cut);
      const std::string whole = read_in_chunks(bytes, bytes.size());
      for (const size_t chunk : {size_t{1}, size_t{7}, size_t{64}})
        EXPECT_EQ(read_in_chunks(bytes, chunk), whole);
    }
  }
}

TEST(SeriesReaders, ATrackerIsThreeSeriesMarkersAndRetries) {
  for (const Writer writer : kAllWriters) {
    const std::string text = read_in_chunks(tracker_file(writer), 1000);
    EXPECT_THAT(text, HasSubstr("num_alloc_retries=7"));
    // 1.5 MiB = 1572864 bytes
    EXPECT_THAT(text, HasSubstr("  0 1572864 \"layer.forward.mm.default_0\" -\n"));
    EXPECT_THAT(text, HasSubstr("  2 6291456 - -\n"));  // reserved, 6 MiB
    EXPECT_THAT(text, HasSubstr("\"fw_bw_boundary\" -\n"));
  }
}

TEST(SeriesReaders, ARawTimelineKeepsCategoryAndAction) {
  const std::string text = read_in_chunks(kRawTimeline, 1000);
  EXPECT_THAT(text, HasSubstr("  1000500 4096 \"PARAMETER\" \"PREEXISTING\"\n"));
  EXPECT_THAT(text, HasSubstr("  2000999 16384 \"GRADIENT\" \"CREATE\"\n"));
  EXPECT_THAT(text, HasSubstr("  3000400 8192 \"ACTIVATION\" \"DESTROY\"\n"));
}

TEST(SeriesReaders, ARowOfNothingBehindTheFirstDoesNotHideIt) {
  ReadFile file(int64_t{64} << 20);
  const auto reader = io::memory_timeline_reader(file.recording);
  constexpr std::string_view kText = "[[10, 2, 512, 4], [], [20, 2, 512, 4]]";
  ASSERT_TRUE(io::push(*reader, std::as_bytes(std::span(kText))));
  ASSERT_TRUE(reader->finish());
  const std::string text = text_of(file);
  EXPECT_THAT(text, HasSubstr("  10 512 \"ACTIVATION\" \"CREATE\"\n"));
  EXPECT_THAT(text, HasSubstr("  20 1024 \"ACTIVATION\" \"CREATE\"\n"));
}

TEST(SeriesReaders, TelemetryKeepsWhatHasNoColumn) {
  const std::string text = read_in_chunks(kTelemetry, 1000);
  EXPECT_THAT(
      text,
      HasSubstr(" series allocated device 1\n  5 100 \"warning\" \"odd\" metadata={\"backend\":\"cuda\"}\n"));
  EXPECT_THAT(text, HasSubstr(" series device_used device 1\n  5 400 - -\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("device_free")));
}

TEST(SeriesReaders, CellsOfCsvMayBeQuotedOrEmpty) {
  const std::string text = read_in_chunks(kCsv, 1000);
  EXPECT_THAT(text, HasSubstr("  1500000000 100 \"a \"b\", c\" -\n"));
  EXPECT_THAT(text, HasSubstr(" series reserved device 0\n  1500000000 200 - -\n"));
}

TEST(SeriesReaders, ASmallBudgetIsToldOrRefused) {
  std::string rows = "[";
  for (int i = 0; i < 40'000; ++i) rows += std::to_string(i).insert(0, i == 0 ? "[" : ",[") + ",2,512,4]";
  const std::string text = read_in_chunks(rows + "]", 100'000, int64_t{1} << 20);
  EXPECT_THAT(text, testing::AnyOf(HasSubstr("budget_exhausted"), HasSubstr("limit_exceeded")));
}

TEST(SeriesReaders, TimelinesAreToldByTheirShape) {
  for (const std::string_view text : {"[[1,2,3,4],[1,2,3,4]]", "[[1, 2, 3, 4]]", "[[1],[[0", "[[], []]",
                                      "[[1,2,3,4],[[0]]]", "[[1,2,3,4,5,6"}) {
    EXPECT_TRUE(io::begins_memory_timeline(text)) << text;
  }
  for (const std::string_view text :
       {"[]", "[[]]", "[[1,2],[3,4]]", "[[1,2,3],[4]]", "[[\"a\"]]", "[[[1]]]", "{", "[[], [1]]", "[[{}]]"}) {
    EXPECT_FALSE(io::begins_memory_timeline(text)) << text;
  }
  EXPECT_TRUE(io::begins_telemetry_csv("function_name,execution_time\n"));
  EXPECT_FALSE(io::begins_telemetry_csv("function_name\nmemory_mb,"));
  EXPECT_FALSE(io::begins_telemetry_csv("index, name"));
}

}  // namespace
}  // namespace gpustrata::tests
