// Traces that are broken in the ways in which traces break: what can be shown is shown, the rest is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/analysis/ops/op_memory.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/span_lanes.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {
namespace {

using model::Diag;
using testing::ElementsAre;

[[nodiscard]] std::string op(std::string_view name, std::string_view rest) {
  return R"({"ph":"X","cat":"cpu_op","name":")" + std::string(name) + R"(","pid":1,"tid":2,)" +
         std::string(rest) + "}";
}
[[nodiscard]] std::string memory(std::string_view time, std::string_view args,
                                 std::string_view thread = "2") {
  return R"({"ph":"i","name":"[memory]","pid":1,"tid":)" + std::string(thread) + R"(,"ts":)" +
         std::string(time) + R"(,"args":{"Device Type":1,"Device Id":0,)" + std::string(args) + "}}";
}
[[nodiscard]] std::string trace_of(std::initializer_list<std::string> events) {
  std::string text = R"({"traceEvents":[)";
  for (const std::string& event : events) text += (text.ends_with('[') ? "" : ",") + event;
  return text + "]}";
}
const std::string kGood = op("aten::mm", R"("ts":1,"dur":9)");
const std::string kAlloc = memory("2", R"("Addr":4096,"Bytes":512)");

// What else is in the file is there: one op, one record of 512 bytes in it.
void expect_the_rest(const ReadFile& file) {
  ASSERT_TRUE(file.status) << file.status.error().message;
  EXPECT_EQ(problem_of(file.recording), "");
  const model::Recording& rec = file.recording;
  ASSERT_GE(rec.events.size_rows(), 1u);
  EXPECT_EQ(rec.events.size[0], 512);
  ASSERT_GE(rec.records.op[0], 0);
  EXPECT_EQ(rec.strings.view(rec.spans.name[rec.records.op[0]]), "aten::mm");
}

TEST(BrokenTrace, CutAnywhereShowsAllWholeEvents) {
  const std::string text = trace_of({kGood, kAlloc, memory("3", R"("Addr":8192,"Bytes":1024)")});
  const size_t first = text.find("[memory]"), second = text.rfind(R"({"ph":"i")");
  for (size_t length = text.find(kAlloc) + kAlloc.size(); length < text.size(); ++length) {
    const auto file = read_any(text.substr(0, length));
    expect_the_rest(*file);
    EXPECT_EQ(file->count(Diag::truncated), 1) << length;
    EXPECT_EQ(file->recording.events.size_rows(), length < text.size() - 2 ? 1u : 2u) << length;
  }
  EXPECT_LT(first, second);
}

TEST(BrokenTrace, NaNAndInfinityAreNoNumbers) {
  const auto file = read_any(trace_of(
      {kGood, kAlloc, op("odd", R"("ts":NaN,"dur":1)"), op("endless", R"("ts":3,"dur":Infinity)"),
       op("shaped", R"("ts":3,"dur":1,"args":{"Concrete Inputs":[NaN,-Infinity],"Input Dims":[[2]]})"),
       memory("4", R"("Addr":1,"Bytes":NaN)")}));
  expect_the_rest(*file);
  EXPECT_EQ(file->count(Diag::span_incomplete), 1);
  EXPECT_EQ(file->count(Diag::span_without_end), 1);
  EXPECT_EQ(file->count(Diag::record_incomplete), 1);
  EXPECT_EQ(file->recording.spans.size_rows(), 3u);  // mm, endless, shaped
  EXPECT_EQ(file->recording.events.size_rows(), 1u);
}

TEST(BrokenTrace, QuotesInNamesBelongToThem) {
  const auto file =
      read_any(trace_of({kGood, kAlloc, op(R"(kernel {"device": "cpu"} x)", R"("ts":3,"dur":1)")}));
  expect_the_rest(*file);
  EXPECT_EQ(file->recording.strings.view(file->recording.spans.name[1]), R"(kernel {"device": "cpu"} x)");
}

TEST(BrokenTrace, ControlBytesStayInNames) {
  const auto file =
      read_any(trace_of({kGood, kAlloc, op(std::string_view("a\x01\tb\x7f\0c", 7), R"("ts":3,"dur":1)")}));
  expect_the_rest(*file);
  EXPECT_EQ(file->recording.strings.view(file->recording.spans.name[1]),
            std::string_view("a\x01\tb\x7f\0c", 7));
}

TEST(BrokenTrace, ACommaBehindTheLastIsNoEvent) {
  const auto file =
      read_any(R"({"traceEvents":[)" + kGood + "," + kAlloc + "," + op("last", R"("ts":3,"dur":1,)") + ",]}");
  expect_the_rest(*file);
  EXPECT_EQ(file->recording.spans.size_rows(), 2u);
  EXPECT_EQ(file->count(Diag::odd_items), 1);
}

TEST(BrokenTrace, OfRepeatedKeysTheLastCounts) {
  const auto file =
      read_any(trace_of({kGood, kAlloc, op("first", R"("name":"second","ts":2,"ts":3,"dur":1,"dur":4)"),
                         R"({"ph":"i","name":"[memory]","pid":1,"tid":2,"ts":5,"args":{"Bytes":1},"args":)"
                         R"({"Device Type":1,"Device Id":0,"Addr":9,"Bytes":7,"Bytes":8}})"}));
  expect_the_rest(*file);
  EXPECT_EQ(file->count(Diag::duplicate_key), 2);  // events
  EXPECT_EQ(file->recording.strings.view(file->recording.spans.name[1]), "second");
  EXPECT_EQ(file->recording.spans.start[1], 3000);
  EXPECT_EQ(file->recording.spans.duration[1], 4000);
  EXPECT_EQ(file->recording.events.size[1], 8);
}

TEST(BrokenTrace, UnknownPhasesAreCounted) {
  const auto file =
      read_any(trace_of({R"({"ph":"Q","ts":1})", R"({"ph":7})", R"({"ts":3})", "{}", kGood, kAlloc}));
  expect_the_rest(*file);
  EXPECT_EQ(file->count(Diag::unknown_phase), 4);
}

// Before the base of times, and without a time: the second says nothing that could be drawn.
TEST(BrokenTrace, TimesMayBeNegativeOrAbsent) {
  const auto file =
      read_any(trace_of({kGood, kAlloc, op("early", R"("ts":-5.5,"dur":2)"), op("when", R"("dur":2)"),
                         op("null", R"("ts":null,"dur":2)"), memory("-1.25", R"("Addr":1,"Bytes":3)"),
                         R"({"ph":"i","name":"[memory]","args":{"Device Type":1,"Bytes":3,"Addr":4}})"}));
  ASSERT_TRUE(file->status);
  const model::Recording& rec = file->recording;
  EXPECT_EQ(rec.spans.start[0], -5500);
  EXPECT_EQ(file->count(Diag::span_incomplete), 2);
  EXPECT_EQ(file->count(Diag::record_incomplete), 1);
  ASSERT_EQ(rec.events.size_rows(), 2u);
  EXPECT_EQ(rec.events.time[0], -1250);  // in order of time
  EXPECT_EQ(problem_of(rec), "");
}

TEST(BrokenTrace, AnOpWithoutAnEndIsAMomentInItsLane) {
  const auto file =
      read_any(trace_of({kGood, kAlloc, op("open", R"("ts":3)"), op("backwards", R"("ts":4,"dur":-7)")}));
  expect_the_rest(*file);
  EXPECT_EQ(file->count(Diag::span_without_end), 2);
  const model::Part& part = file->recording.parts[0];
  const auto lanes = replay::SpanLanes::make(file->recording, part, part.traces.data());
  ASSERT_TRUE(lanes);
  const auto& thread = lanes->threads()[0];
  ASSERT_EQ(thread.rows, 2);
  const model::RowRange inside = lanes->row(thread, 1);
  ASSERT_EQ(inside.count, 2);
  EXPECT_EQ(lanes->end_of(inside.first), 3001);
  EXPECT_EQ(lanes->end_of(inside.first + 1), 4001);
}

// Events of two threads in turns, ends of one between beginnings of the other: each thread has its own nesting.
TEST(BrokenTrace, ThreadsInTurnsAreKeptApart) {
  const auto other = [](std::string_view name, std::string_view rest) {
    return R"({"ph":"X","cat":"cpu_op","name":")" + std::string(name) + R"(","pid":1,"tid":"3",)" +
           std::string(rest) + "}";
  };
  const auto file = read_any(
      trace_of({kGood, other("outer", R"("ts":1,"dur":20)"), op("inner", R"("ts":3,"dur":2)"),
                other("deep", R"("ts":3,"dur":1)"), kAlloc, memory("3.5", R"("Addr":1,"Bytes":7)", "3")}));
  expect_the_rest(*file);
  const model::Recording& rec = file->recording;
  EXPECT_EQ(rec.threads.size_rows(), 2u);
  EXPECT_EQ(rec.strings.view(rec.spans.name[rec.records.op[1]]), "deep");
  EXPECT_EQ(rec.strings.view(rec.spans.name[rec.spans.parent[rec.records.op[1]]]), "outer");
}

// The largest address there is, and one more than that: still the same in an alloc and its free.
TEST(BrokenTrace, AddressesUpToTwoToThe64AndBeyond) {
  const auto file =
      read_any(trace_of({kGood, kAlloc, memory("3", R"("Addr":18446744073709551615,"Bytes":16)"),
                         memory("4", R"("Addr":18446744073709551616,"Bytes":32)"),
                         memory("5", R"("Addr":18446744073709551615,"Bytes":-16)"),
                         memory("6", R"("Addr":18446744073709551616,"Bytes":-32)")}));
  expect_the_rest(*file);
  EXPECT_EQ(file->count(Diag::integer_out_of_range), 2);
  EXPECT_EQ(file->recording.events.address[1], UINT64_MAX);
  const auto lives = replay::find_block_lives(file->recording, file->recording.parts[0], 0);
  ASSERT_TRUE(lives);
  EXPECT_EQ(lives->peak_level, 512 + 16 + 32);
  EXPECT_EQ(lives->final_level, 512);
}

TEST(BrokenTrace, SumsBeyond64BitsStayAtTheirEnd) {
  constexpr std::string_view kMost = "9223372036854775807";
  const auto file =
      read_any(trace_of({kGood, kAlloc, memory("3", R"("Addr":1,"Bytes":)" + std::string(kMost)),
                         memory("4", R"("Addr":2,"Bytes":)" + std::string(kMost)),
                         memory("5", R"("Addr":3,"Bytes":-9223372036854775808)"),
                         memory("6", R"("Addr":4,"Bytes":9223372036854775808)")}));
  expect_the_rest(*file);
  EXPECT_EQ(file->count(Diag::record_incomplete), 1);  // the last one
  const auto table = analysis::find_op_memory(file->recording, analysis::OpBy::op, analysis::OpScope::thread);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->devices.size(), 1u);
  EXPECT_EQ(table->devices[0].peak, INT64_MAX);
  ASSERT_EQ(table->devices[0].rows.size(), 1u);
  EXPECT_EQ(table->devices[0].rows[0].gross, INT64_MAX);
}

TEST(BrokenTrace, WithoutMemoryRecordsItSaysSo) {
  const auto file = read_any(trace_of({kGood}));
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::no_memory_records), 1);
  EXPECT_EQ(file->recording.spans.size_rows(), 1u);
}

}  // namespace
}  // namespace gpustrata::tests
