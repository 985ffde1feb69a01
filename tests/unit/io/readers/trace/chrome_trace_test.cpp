#include "engine/io/readers/trace/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/io/readers/trace/trace_text.h"
#include "engine/replay/block_lives.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/io/same_recording.h"
#include "tests/unit/processor_limit.h"

namespace gpustrata::tests {
namespace {

using io::traces::integer_of;
using io::traces::Number;
using model::Diag;

[[nodiscard]] int64_t nanoseconds(std::string_view text) {
  int64_t value = 0;
  return integer_of(text, 3, value) == Number::fits ? value : -1;
}

TEST(ChromeTraceText, TimesAreExactNanoseconds) {
  EXPECT_EQ(nanoseconds("1724696104648464"), 1724696104648464000);
  EXPECT_EQ(nanoseconds("1305516338633.34"), 1305516338633340);
  EXPECT_EQ(nanoseconds("0.001"), 1);
  EXPECT_EQ(nanoseconds("1.5e3"), 1500000);
  EXPECT_EQ(nanoseconds("12.3456"), 12345);
  EXPECT_EQ(nanoseconds("9007199254740993.001"), 9007199254740993001);  // no double has these digits
  int64_t value = 0;
  EXPECT_EQ(integer_of("-9223372036854775808", 0, value), Number::fits);
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_EQ(integer_of("9223372036854775808", 0, value), Number::too_large);
  EXPECT_EQ(integer_of("1e999999999999", 0, value), Number::too_large);
  EXPECT_EQ(integer_of("0e999999999999", 0, value), Number::fits);
  EXPECT_EQ(integer_of("-", 0, value), Number::none);
  EXPECT_EQ(integer_of("1.2.3", 0, value), Number::none);
  EXPECT_EQ(integer_of("1e", 0, value), Number::none);
  uint64_t address = 0;
  EXPECT_EQ(io::traces::unsigned_of("18446744073709551615", address), Number::fits);
  EXPECT_EQ(io::traces::unsigned_of("18446744073709551616", address), Number::too_large);
}

TEST(ChromeTraceText, EscapesBecomeWhatTheyStandFor) {
  EXPECT_EQ(io::traces::unescaped(R"(a\"b\\c\u00fc\ud83d\ude00\q\)"), "a\"b\\c\xC3\xBC\xF0\x9F\x98\x80\\q\\");
}

[[nodiscard]] std::string record(std::string_view time, std::string_view args) {
  return R"({"ph":"i","name":"[memory]","pid":1,"tid":2,"ts":)" + std::string(time) +
         R"(,"args":{"Device Type":1,)" + R"("Device Id":0,)" + std::string(args) + "}}";
}

constexpr std::string_view kSpans =
    R"({"ph":"X","cat":"python_function","name":"train.py(12): step","pid":1,"tid":2,"ts":0,"dur":100},)"
    R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":1,"tid":2,"ts":1,"dur":90},)"
    R"({"ph":"X","cat":"python_function","name":"net.py(7): forward","pid":1,"tid":2,"ts":2,"dur":80},)"
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":3,"dur":10},)";

[[nodiscard]] std::string small_trace() {
  return R"({"baseTimeNanoseconds":1000,"traceEvents":[)" + std::string(kSpans) +
         record("4.5", R"("Addr":4096,"Bytes":512,"Total Allocated":2560,"Total Reserved":4096)") + "," +
         record("20", R"("Addr":4096,"Bytes":-512,"Total Allocated":2048,"Total Reserved":4096)") + "," +
         record("200", R"("Addr":8192,"Bytes":-1024,"Total Allocated":1024,"Total Reserved":2048)") + "]}";
}

TEST(ChromeTrace, RecordsBecomeEventsWithOpsAndFunctionsAsTheirStack) {
  const auto file = read_any(small_trace());
  ASSERT_TRUE(file->status) << file->status.error().message;
  const model::Recording& rec = file->recording;
  ASSERT_EQ(rec.parts.size(), 1u);
  const model::Part& part = rec.parts[0];
  EXPECT_EQ(part.kind, model::PartKind::trace);
  EXPECT_EQ(part.name, "cuda");
  EXPECT_EQ(part.clock, (model::Clock{1, 1000}));
  ASSERT_EQ(rec.events.size_rows(), 3u);
  EXPECT_EQ(rec.events.time[0], 4500);
  EXPECT_EQ(file->stack(rec.events.stack[0]),
            "aten::mm@:0 ProfilerStep#4@:0 forward@net.py:7 step@train.py:12");
  EXPECT_EQ(file->stack(rec.events.stack[1]), "ProfilerStep#4@:0 forward@net.py:7 step@train.py:12");
  EXPECT_EQ(file->stack(rec.events.stack[2]), "");
  EXPECT_EQ(rec.spans.step[3], 4);
  EXPECT_EQ(rec.spans.parent[3], 2);
}

// Before: 2560 - 512 bytes; the 1024 of them that the trace frees are a block of their own.
TEST(ChromeTrace, WhatWasThereBeforeIsABlockFromTheStart) {
  const auto file = read_any(small_trace());
  const auto lives = replay::find_block_lives(file->recording, file->recording.parts[0], 0);
  ASSERT_TRUE(lives);
  EXPECT_EQ(lives->initial_level, 2048);
  EXPECT_EQ(lives->peak_level, 2560);
  EXPECT_EQ(lives->final_level, 1024);
  EXPECT_EQ(lives->from_start, 2);
  EXPECT_EQ(lives->reserved.at(-1), 4096);
  EXPECT_EQ(lives->reserved.at(2), 2048);
}

TEST(ChromeTrace, WithoutAddressesAFreeEndsTheNewestBlockOfItsSize) {
  std::string text = "[";
  for (const char* bytes : {"100", "100", "7", "-100", "-5"}) {
    text += record("1", R"("Bytes":)" + std::string(bytes)) + ",";
  }
  const auto file = read_any(text + "]");
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::no_addresses), 5);
  const auto lives = replay::find_block_lives(file->recording, file->recording.parts[0], 0);
  ASSERT_TRUE(lives);
  EXPECT_EQ(lives->initial_level, 5);
  EXPECT_EQ(lives->peak_level, 5 + 207);
  EXPECT_EQ(lives->final_level, 107);
  EXPECT_EQ(lives->freed[2], 3);  // rank 0 is the older one; of the two of 100 bytes the newer one
}

TEST(ChromeTrace, TheResultDoesNotDependOnTheChunks) {
  const std::string odd = R"({"env": "a "b" c", "x": [1, {"y": "}"}], )" + small_trace().substr(1);
  for (const std::string& text :
       {small_trace(), odd, small_trace() + "  ", small_trace().substr(0, 700),
        R"([17, {"ph": "X" "ts": 1}, {"ph":"X","name":"a "quoted" name","ts":1,"dur":2},)" +
            std::string(kSpans) + "{}]"}) {
    const auto whole = read_any(text);
    for (const size_t chunk : {1, 2, 3, 7, 64, 100}) {
      const auto pieces = read_any(text, {.chunk = chunk});
      ASSERT_EQ(whole->status.has_value(), pieces->status.has_value());
      EXPECT_EQ(difference_of(whole->recording, pieces->recording), "")
          << chunk << ": " << text.substr(0, 40);
      EXPECT_EQ(problem_of(pieces->recording), "");
    }
  }
}

TEST(ChromeTrace, AMetadataKeyThatIsNoJsonHidesNoEvents) {
  const auto file = read_any(R"({"env": "a "b" c", "x": nothing here, )" + small_trace().substr(1));
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->recording.events.size_rows(), 3u);
  EXPECT_EQ(file->count(Diag::invalid_json), 1);
}

TEST(ChromeTrace, AnEmptyTraceSaysHowToRecordMemory) {
  const auto file = read_any(R"({"schemaVersion": 1, "traceEvents": []})");
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::no_memory_records), 1);
  EXPECT_EQ(file->recording.parts.size(), 1u);
  EXPECT_FALSE(read_any(R"({"schemaVersion": 1, "traceEvents": )")->status);
}

TEST(ChromeTrace, WithLittleMemoryTheBeginningIsShown) {
  std::string text = "[";
  for (int i = 0; i < 20000; ++i) text += std::string(kSpans) + record("5", R"("Addr":1,"Bytes":1)") + ",";
  const auto file = read_any(text + "{}]", {.limit = 4 << 20});
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::budget_exhausted), 1);
  EXPECT_GT(file->recording.events.size_rows(), 1000u);
  EXPECT_EQ(problem_of(file->recording), "");
}

// Walked over from its own beginning to the end of the file, each of these would be looked at 11 * 10^12 bytes in all.
TEST(ChromeTrace, ManyUnfinishedEventsDoNotCostTheirSquare) {
  std::string text = "[";
  for (int i = 0; i < 1'400'000; ++i) text += R"({"ph":[[ },)";
  const ProcessorLimit limit;
  const auto file = read_any(text + std::string(kSpans) + "{}]");
  ASSERT_TRUE(file->status);
}

}  // namespace
}  // namespace gpustrata::tests
