// Texts of answers: what a terminal gets to see, how it fits, and where it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/answers/common/failure.h"
#include "engine/answers/common/moment.h"
#include "engine/answers/report/missing.h"
#include "engine/answers/text/bounded.h"
#include "engine/answers/text/fitted.h"
#include "engine/answers/text/json_of.h"
#include "engine/answers/text/label_rows.h"
#include "engine/answers/text/percent.h"
#include "engine/answers/text/printable.h"
#include "engine/replay/state_history.h"
#include "tests/unit/answers/collected.h"

namespace gpustrata::answers {
namespace {

using testing::ElementsAre;

TEST(PrintableTexts, WhatATerminalWouldObeyIsReplaced) {
  EXPECT_EQ(printable(" ~"), " ~");
  EXPECT_EQ(printable("a\x1F\x7F\x1B[1m"), "a\uFFFD\uFFFD\uFFFD[1m");
  EXPECT_EQ(printable("\u00e9\u20ac\U0001F600"), "\u00e9\u20ac\U0001F600");
  EXPECT_EQ(printable("\u0085\u202E\u200B"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(printable("a\nb"), "a\uFFFDb");
  EXPECT_EQ(printable_lines("a\nb\x07"), "a\nb\uFFFD\n");
  EXPECT_EQ(printable_lines("a\n\nb\n"), "a\n\nb\n");
  EXPECT_EQ(printable_lines(""), "");
}

TEST(PrintableTexts, AreShortenedBehindWholeCharacters) {
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), "abcd...");
  EXPECT_EQ(shortened("ab\u20acd", 3), "ab\u20ac...");  // in the middle of the sign
  EXPECT_EQ(shortened("ab", 0), "...");
}

TEST(BoundedTexts, EndAtFourKiBInLists) {
  const std::string just(4096, 'a');
  EXPECT_EQ(in_list(just), just);
  EXPECT_EQ(in_list(just + "b"), just + "\u2026");
  EXPECT_EQ(more_text(1700), "\u2026 1,700 more");
}

TEST(BoundedTexts, AListThatIsFullCountsWhatIsLeftOut) {
  JsonWriter json;
  Room room(json);
  for (int i = 0; i < analysis::kMostInList; ++i) ASSERT_TRUE(room.for_one_more());
  EXPECT_EQ(room.left_out(), 0);
  EXPECT_FALSE(room.for_one_more());
  EXPECT_FALSE(room.for_one_more());
  room.leave_out(10);
  EXPECT_EQ(room.left_out(), 12);
}

TEST(MomentTexts, AreOfTheEventAndThePeak) {
  EXPECT_EQ(moment_text(-1, {0, -1}), "as saved");
  EXPECT_EQ(moment_text(-1, {5, 2}), "before the first event");
  EXPECT_EQ(moment_text(-1, {5, -1}), "at the peak, before the first event");
  EXPECT_EQ(moment_text(0, {5, 2}), "after event 0 (the last is 4)");
  EXPECT_EQ(moment_text(2, {5, 2}), "at the peak, after event 2 (the last is 4)");
  EXPECT_EQ(moment_text(1234, {5001, 2}), "after event 1,234 (the last is 5,000)");
  EXPECT_EQ(device_text(3), "device 3");
  EXPECT_EQ(device_text(0), "device 0");
  EXPECT_EQ(device_text(replay::kHostDevice), "host memory");
}

TEST(FailureTexts, NameTheByteUnlessItIsTheFirst) {
  EXPECT_EQ(to_text({"truncated", "a.pickle", "The file ends too early.", 1234, {}}),
            "gpustrata: a.pickle: The file ends too early. (at byte 1,234)\n");
  EXPECT_EQ(to_text({"truncated", "a.zip", "It ends.", 1, "b.pickle"}),
            "gpustrata: a.zip: It ends. (at byte 1 of b.pickle)\n");
  EXPECT_EQ(to_text({"wrong_usage", "a\n", "What?", 0, {}}), "gpustrata: a\uFFFD: What?\n");
  EXPECT_EQ(to_text({"wrong_usage", "a", "What?", -1, {}}), "gpustrata: a: What?\n");
}

TEST(FailureTexts, AsJsonTheFirstByteIsAPlace) {
  EXPECT_EQ(json_of(Failed{"truncated", "a", "It ends.", 0, {}}),
            R"({"file":"a","error":{"code":"truncated","message":"It ends.","offset":0}})");
  EXPECT_EQ(json_of(Failed{"truncated", "a", "It ends.", -1, "b"}),
            R"({"file":"a","error":{"code":"truncated","message":"It ends.","offset":null,"inside":"b"}})");
}

TEST(FittedTexts, EastAsianLettersAreTwoColumnsAndMarksNone) {
  EXPECT_EQ(columns_of_text("abc"), 3U);
  EXPECT_EQ(columns_of_text("\u00e9"), 1U);
  EXPECT_EQ(columns_of_text("e\u0301"), 1U);
  EXPECT_EQ(columns_of_text("\u4e2d\u6587"), 4U);
  EXPECT_EQ(columns_of_text("\uAC00\uD7A3"), 4U);  // the first and the last syllable of Hangul
  EXPECT_EQ(columns_of_text("\uD7A4"), 1U);
  EXPECT_EQ(columns_of_text("\U0001F600"), 2U);
}

TEST(FittedTexts, EndWithASignOrBeginWithIt) {
  EXPECT_EQ(fitted("abcd", 4), "abcd");
  EXPECT_EQ(fitted("abcde", 4), "abc\u2026");
  EXPECT_EQ(fitted("\u4e2d\u6587", 3), "\u4e2d\u2026");
  EXPECT_EQ(fitted("\u4e2d\u6587", 2), "\u2026");
  EXPECT_EQ(fitted_path("a/b/c.py", 8), "a/b/c.py");
  EXPECT_EQ(fitted_path("a/b/c.py", 7), "\u2026/c.py");  // of the last six "b/c.py" from the folder's name on
  EXPECT_EQ(fitted_path("aa/b/c.py", 8), "\u2026/b/c.py");  // of the last seven "/b/c.py"
  EXPECT_EQ(fitted_path("a/b/c.py", 4), "\u2026.py");
}

TEST(FittedTexts, FramesLoseTheFoldersOfTheirPlaceFirst) {
  // "run" and "a/b/c.py:1" with two spaces between them are 15 columns.
  EXPECT_EQ(fitted_frame("run", "a/b/c.py:1", 15), "run  a/b/c.py:1");
  EXPECT_EQ(fitted_frame("run", "a/b/c.py:1", 14), "run  \u2026/c.py:1");
  EXPECT_EQ(fitted_frame("run", "", 2), "r\u2026");
  EXPECT_EQ(fitted_frame("", "a/b.py", 5), "\u2026b.py");
}

TEST(FittedTexts, WordsGoOnTheNextLineWhereTheyDoNotFit) {
  EXPECT_THAT(words_of("a bc  d"), ElementsAre("a", "bc", "", "d"));
  EXPECT_THAT(words_of(""), ElementsAre(""));
  EXPECT_THAT(words_of("of 8.1 MiB (0.2 %), or a B %"),
              ElementsAre("of", "8.1 MiB", "(0.2 %),", "or", "a", "B", "%"));
  EXPECT_EQ(wrapped(words_of("aa bb cc"), 7, 2), "aa bb\n  cc");  // two and "aa bb" are seven columns
  EXPECT_EQ(wrapped(words_of("aa bb cc"), 6, 2), "aa\n  bb\n  cc");
  EXPECT_EQ(wrapped(words_of("longer than"), 4, 2), "longer\n  than");
}

TEST(LabelRowTexts, StandInColumns) {
  LabelRows rows;
  rows.size("peak", 2048, "after event 57");
  rows.size("reserved", 1000);
  rows.text("who", "model.py:10");
  EXPECT_EQ(collected([&](TextOut& out) { rows.write(out, 80); }),
            "    peak      2.0 KiB  2,048 bytes  after event 57\n"
            "    reserved   1000 B  1,000 bytes\n"
            "    who       model.py:10\n");
}

TEST(Percents, HaveADigitWhereTheyAreSmallAndAreNeverNothingForSomething) {
  EXPECT_EQ(percent_text(0, 0), "0 %");
  EXPECT_EQ(percent_text(0, 7), "0 %");
  EXPECT_EQ(percent_text(1, 100'000), "below 0.1 %");
  EXPECT_EQ(percent_text(1, 1000), "0.1 %");
  EXPECT_EQ(percent_text(99, 1000), "9.9 %");
  EXPECT_EQ(percent_text(999, 10'000), "10 %");
  EXPECT_EQ(percent_text(7, 7), "100 %");
}

TEST(MissingTexts, SayWhatTheyAreOf) {
  Budget budget(int64_t{1} << 20);
  analysis::Overview overview(budget);
  overview.peak_bytes = 4096;
  overview.events = 100'000;
  const auto some = [&](int64_t older, bool profiled = false) {
    return missing_text(overview, {analysis::NotRecorded::some_stacks, 1024, older}, profiled);
  };
  EXPECT_EQ(some(1024).text,
            "1.0 KiB (25 %) of the peak has no stack: it was allocated before the first event.");
  EXPECT_EQ(some(1024).python, "torch.cuda.memory._record_memory_history()  # before the model is created");
  EXPECT_EQ(some(1024, true).python, "");
  EXPECT_EQ(
      some(0).text,
      "1.0 KiB (25 %) of the peak has no stack: it is of threads without Python, or was recorded without "
      "stacks.");
  EXPECT_EQ(some(0).python, "torch.cuda.memory._record_memory_history(context=\"all\", stacks=\"all\")");
  EXPECT_EQ(
      some(1000).text,
      "1.0 KiB (25 %) of the peak has no stack: 1000 B of it was allocated before the first event, the rest "
      "is of threads without Python, or was recorded without stacks.");
  EXPECT_EQ(
      missing_text(overview, {.what = analysis::NotRecorded::oldest_events, .is_sure = false}, false).text,
      "The history may lack its beginning: it holds a round number of events, 100,000.");
  EXPECT_EQ(
      missing_text(overview, {.what = analysis::NotRecorded::oldest_events, .is_sure = false}, false).python,
      "torch.cuda.memory._record_memory_history(max_entries=1_000_000)");
  EXPECT_EQ(missing_text(overview, {.what = analysis::NotRecorded::oldest_events}, false).text,
            "The history lacks its beginning: it was full, and only the last 100,000 events were kept.");
  // Then nobody knows whether they were made before it began, and beginning earlier does not help.
  overview.missing = {{.what = analysis::NotRecorded::oldest_events}};
  EXPECT_EQ(some(1024).text,
            "1.0 KiB (25 %) of the peak has no stack: it was allocated before the first event.");
  EXPECT_EQ(some(1024).python, "");
  overview.events = 1;
  EXPECT_EQ(
      missing_text(overview, {.what = analysis::NotRecorded::oldest_events, .is_sure = false}, false).text,
      "The history is only the last event: with enabled=\"state\" PyTorch keeps no more, and version 2.0 "
      "keeps more only when told to.");
  EXPECT_EQ(
      missing_text(overview, {.what = analysis::NotRecorded::oldest_events, .is_sure = false}, false).python,
      "torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=1_000_000, "
      "trace_alloc_record_context=True)");
  EXPECT_EQ(missing_text(overview, {analysis::NotRecorded::times, 0}, false).python, "");
  EXPECT_EQ(
      missing_text(overview, {.what = analysis::NotRecorded::addresses}, true).text,
      "Memory records have no addresses: which free ended which block is told by its size only, so what "
      "holds memory at a moment, and what leaks, is a guess.");
  EXPECT_EQ(
      missing_text(overview, {analysis::NotRecorded::device, 0}, false).text,
      "This is an estimate, made without a GPU: CUDA's context and most of what kernels take inside are not in it.");
  EXPECT_EQ(missing_text(overview, {analysis::NotRecorded::history, 0}, false).python,
            "torch.cuda.memory._record_memory_history()");
  EXPECT_EQ(missing_text(overview, {analysis::NotRecorded::stacks, 0}, false).python,
            "torch.cuda.memory._record_memory_history(context=\"all\")");
  EXPECT_EQ(missing_text(overview, {analysis::NotRecorded::stacks, 0}, true).python,
            "torch.profiler.profile(profile_memory=True, with_stack=True)");
}

// What fails stays failed, and nothing is written after it.
TEST(TextsOut, StopAtTheFirstFailure) {
  struct Full final : io::ByteSink {
    Status write(std::span<const std::byte>) override {
      ++writes;
      return fail(ErrorCode::limit_exceeded, -1, "no space is left");
    }
    int writes = 0;
  } full;
  TextOut out(full);
  out.add("a");
  EXPECT_FALSE(out.failed());  // held
  out.add(std::string(io::kSinkPiece, 'b'));
  EXPECT_TRUE(out.failed());
  out.print("{}\n", "c");
  const Status finished = out.finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().message, "no space is left");
  EXPECT_EQ(full.writes, 1);
}

}  // namespace
}  // namespace gpustrata::answers
