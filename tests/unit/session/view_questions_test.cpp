// Questions about the timeline of a view, on the run of training_run.h.
#include <gmock/gmock.h>

#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;

using ViewQuestions = TrainingRun;

constexpr std::string_view kEveryEvent = R"("columns":{"axis":"event","first":0,"width":1,"count":8})";

TEST_F(ViewQuestions, PeaksAreTheHighestLevelOfEachDevice) {
  EXPECT_EQ(asked(session, "peaks"), R"({"answer":[[{"device":0,"bytes":3560}]]})");
}

TEST_F(ViewQuestions, ProbeTellsTheBlockOfRankZeroAndItsNeighbour) {
  const auto probe = [&](int column, std::string_view bytes) {
    return ask("probe", fmt::format(R"({{"axis":"event","column":{},"width":1,"bytes":{},"known":-1}})",
                                    column, bytes));
  };
  // A covers [0, 1000) after events 1 to 5, B lies on it.
  EXPECT_THAT(probe(1, "0"), HasSubstr(R"("rank":0,"name":"b'10000_0","size":1000)"));
  EXPECT_THAT(probe(5, "999.5"), HasSubstr(R"("rank":0,"name":"b'10000_0","size":1000)"));
  EXPECT_THAT(probe(5, "1000"), HasSubstr(R"("rank":1,"name":"b'10400_0","size":512)"));
  EXPECT_THAT(probe(6, "0"), HasSubstr(R"("rank":1,"name":"b'10400_0","size":512)"));
  EXPECT_THAT(probe(4, "3559"), HasSubstr(R"("rank":2,)"));
  EXPECT_THAT(probe(4, "3560"), HasSubstr(R"("rank":-1)"));
  EXPECT_THAT(probe(0, "0"), HasSubstr(R"("rank":-1)"));
  EXPECT_THAT(probe(4, "0"),
              HasSubstr(R"("event":4,"time_us":140,"level":3560,"allocated":3560,"reserved":12288)"));
  EXPECT_EQ(probe(8, "0"), R"({"answer":{"pick":null}})");
  EXPECT_EQ(probe(-1, "0"), R"({"answer":{"pick":null}})");
}

TEST_F(ViewQuestions, WhatIsKnownOfABandIsNotToldAgain) {
  const auto probe = [&](int known) {
    return ask("probe",
               fmt::format(R"({{"axis":"event","column":4,"width":1,"bytes":0,"known":{}}})", known));
  };
  EXPECT_THAT(probe(1), HasSubstr(R"("requested_size":1000)"));
  EXPECT_THAT(probe(0), testing::Not(HasSubstr("requested_size")));
}

TEST_F(ViewQuestions, OutlinesFollowABlockAsItSinks) {
  const auto outline = [&](int rank) {
    return frame_of("outline", fmt::format(R"({{"rank":{},{}}})", rank, kEveryEvent));
  };
  const AnswerOf a = outline(0), c = outline(2);
  ColumnsInOrder of_a(a), of_c(c);
  EXPECT_THAT(of_a.next<double>(8), ElementsAre(IsNan(), 0, 0, 0, 0, 0, IsNan(), IsNan()));
  EXPECT_THAT(of_a.next<double>(8), ElementsAre(IsNan(), 1000, 1000, 1000, 1000, 1000, IsNan(), IsNan()));
  EXPECT_TRUE(of_a.are_all_read());
  // C lies on A and B, 1512 bytes; without A on 512.
  EXPECT_THAT(of_c.next<double>(8), ElementsAre(IsNan(), IsNan(), IsNan(), IsNan(), 1512, 1512, 512, 512));
  EXPECT_THAT(of_c.next<double>(8), ElementsAre(IsNan(), IsNan(), IsNan(), IsNan(), 3560, 3560, 2560, 2560));
}

TEST_F(ViewQuestions, PositionsOfEventsOnBothAxes) {
  // Times count from the first event; beyond the last event is the end of the axis: 8 events, [100, 171) us.
  EXPECT_EQ(ask("position", R"({"axis":"event","events":[-1,0,4,7,8]})"), R"({"answer":[0,0,4,7,8]})");
  EXPECT_EQ(ask("position", R"({"axis":"time","events":[-1,0,4,7,8]})"), R"({"answer":[0,0,40,70,71]})");
}

TEST_F(ViewQuestions, MatchesAreCountedFromZero) {
  const auto match = [&](std::string_view filter, int index) {
    return ask("match", fmt::format(R"({{"filter":"{}","index":{}}})", filter, index));
  };
  // At least 600 bytes: A, C and D.
  EXPECT_EQ(match("size>=600", 0), R"({"answer":0})");
  EXPECT_EQ(match("size>=600", 1), R"({"answer":2})");
  EXPECT_EQ(match("size>=600", 2), R"({"answer":3})");
  EXPECT_EQ(match("size>=600", 3), R"({"answer":-1})");
  EXPECT_EQ(match("", 0), R"({"answer":-1})");
  EXPECT_THAT(match("size>", 0), HasSubstr(R"("code":"invalid_format")"));
}

TEST_F(ViewQuestions, PlacesForWordsInTheStackByGroup) {
  // By stream, that with most bytes at the peak lowest: C, 2048 of stream 7, after events 4 to 7; on it those of stream 0, by rank: A
  // up to 3048 after events 4 and 5, B up to 3560, 3560, 2560 and 3160, D from 2560 on after 7. Rows of 100 bytes have the block at
  // their middle: C 20 rows, A 10, B 5. B was 5 rows high from 1000 on after events 2 and 3 already, wider than that only
  // with what moved down. D has 6 rows in one column.
  const auto labels = [&](int columns, int rows) {
    return ask("labels", fmt::format(R"({{{},"rows":{{"bottom":0,"bytesPerRow":100,"count":40}},)"
                                     R"("by":"stream","leastColumns":{},"leastRows":{}}})",
                                     kEveryEvent, columns, rows));
  };
  EXPECT_THAT(labels(4, 20), HasSubstr(R"({"answer":[{"rank":2,"size":2048,)"));
  EXPECT_THAT(labels(4, 20), HasSubstr(R"("x0":4.0,"x1":8.0,"y0":0.0,"y1":2000.0}]})"));
  EXPECT_EQ(labels(5, 1), R"({"answer":[]})");
  EXPECT_EQ(labels(4, 21), R"({"answer":[]})");
  EXPECT_EQ(labels(0, 0), labels(1, 1));
  // Four columns wide are no blocks of stream 0, but all of it together: rows 20 to 26.
  EXPECT_THAT(
      labels(4, 6),
      HasSubstr(
          R"({"rank":-1,"kind":1,"size":0,"function":"","place":"","x0":4.0,"x1":8.0,"y0":2000.0,"y1":2600.0}]})"));
}

TEST_F(ViewQuestions, LevelsAreTheExtremesOfTheirColumns) {
  const AnswerOf answer =
      frame_of("levels",
               R"({"of":["allocated","reserved"],"columns":{"axis":"event","first":0,"width":2,"count":4}})");
  ColumnsInOrder columns(answer);
  EXPECT_THAT(columns.next<double>(4), ElementsAre(1000, 1512, 3560, 3160));
  EXPECT_THAT(columns.next<double>(4), ElementsAre(0, 1512, 3560, 2560));
  EXPECT_THAT(columns.next<double>(4), ElementsAre(4096, 12288, 12288, 12288));
  EXPECT_THAT(columns.next<double>(4), ElementsAre(IsNan(), IsNan(), IsNan(), IsNan()));
  EXPECT_TRUE(columns.are_all_read());
}

TEST_F(ViewQuestions, LevelsOfStepsAndOfRegions) {
  // Step 0 has events 1 and 2; step 1 events 3 to 7, the first two of them in its first column; there is no third.
  const AnswerOf steps = frame_of(
      "levels",
      R"({"of":["allocated","reserved"],"columns":{"axis":"step","first":0,"width":32768,"count":6}})");
  ColumnsInOrder of_steps(steps);
  EXPECT_THAT(of_steps.next<double>(6), ElementsAre(1000, 1512, 3560, 3560, IsNan(), IsNan()));
  (void)of_steps.next<double>(6);
  EXPECT_THAT(of_steps.next<double>(6), ElementsAre(4096, 4096, 12288, 12288, IsNan(), IsNan()));
  const AnswerOf regions = frame_of(
      "levels",
      R"({"of":["allocated"],"columns":{"axis":"region","region":"ProfilerStep#1","first":0,"width":65536,"count":1}})");
  ColumnsInOrder of_regions(regions);
  EXPECT_THAT(of_regions.next<double>(1), ElementsAre(3560));
}

TEST_F(ViewQuestions, LevelsOfFreeMemoryAreThoseAfterTheLastEventOfAColumn) {
  const AnswerOf answer = frame_of(
      "levels", R"({"of":["cached","held_back"],"columns":{"axis":"event","first":-1,"width":4,"count":3}})");
  ColumnsInOrder columns(answer);
  // After event 3 A and B (1024 and 512 bytes) lie in one segment, the other one could go back; after event 7 both have blocks.
  EXPECT_THAT(columns.next<double>(3), ElementsAre(IsNan(), 10752, 8704));
  EXPECT_THAT(columns.next<double>(3), ElementsAre(IsNan(), 10752, 8704));
  EXPECT_THAT(columns.next<double>(3), ElementsAre(IsNan(), 2560, 8704));
}

TEST_F(ViewQuestions, ARangeTellsWhatItMadeAndFreed) {
  // From the state after event 1 to that after event 6: B and C are made and kept, A is freed.
  EXPECT_EQ(
      ask("range", R"({"axis":"event","from":1,"to":6})"),
      R"({"answer":{"from":1,"to":6,"level_before":1000,"level_after":2560,"peak":{"event":4,"bytes":3560},)"
      R"("allocated":{"bytes":2560,"blocks":2},"kept":{"bytes":2560,"blocks":2},)"
      R"("passed":{"bytes":0,"blocks":0},"freed":{"bytes":1000,"blocks":1}}})");
  // By time 20 is event 2 and 69 lies before event 7; C comes, A goes.
  EXPECT_EQ(
      ask("range", R"({"axis":"time","from":20,"to":69})"),
      R"({"answer":{"from":2,"to":6,"level_before":1512,"level_after":2560,"peak":{"event":4,"bytes":3560},)"
      R"("allocated":{"bytes":2048,"blocks":1},"kept":{"bytes":2048,"blocks":1},)"
      R"("passed":{"bytes":0,"blocks":0},"freed":{"bytes":1000,"blocks":1}}})");
  // All of it: A passes.
  EXPECT_THAT(ask("range", R"({"axis":"event","from":0,"to":7})"),
              HasSubstr(R"("allocated":{"bytes":4160,"blocks":4},"kept":{"bytes":3160,"blocks":3},)"
                        R"("passed":{"bytes":1000,"blocks":1},"freed":{"bytes":1000,"blocks":1})"));
}

}  // namespace
}  // namespace gpustrata::session
