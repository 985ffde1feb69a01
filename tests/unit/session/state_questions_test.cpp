// Questions about events and the allocator's states, on the run of training_run.h.
#include <gmock/gmock.h>

#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::FloatNear;
using testing::HasSubstr;

class StateQuestions : public TrainingRun {
 protected:
  // 8192 x 100 pixels: one a byte of the larger segment. That of 4096 bytes is the upper row, y 0 to 40, the other one
  // lies at 50 to 90.
  static constexpr std::string_view kBytes =
      R"("window":{"width":8192,"height":100,"zoom":1,"left":0,"top":0})";
  static constexpr std::string_view kPlainLook =
      R"("look":{"palette":{"bands":[4278190335],"nothing":1,"dimmedTowards":0,"envelope":2},"colourBy":"allocation",)"
      R"("filter":"","kind":-1})";

  [[nodiscard]] std::string picked(int event, double x, double y) {
    return ask("statePick", fmt::format(R"({{"event":{},{},"x":{},"y":{}}})", event, kBytes, x, y));
  }
  [[nodiscard]] std::string number(std::string_view name, std::string_view args) {
    const std::string answer = ask(name, args);
    return answer.starts_with(R"({"answer":)") ? answer.substr(10, answer.size() - 11) : answer;
  }
};

TEST_F(StateQuestions, RowsOfTheListOfEvents) {
  // Events 1, 2, 4 and 7 are allocations.
  EXPECT_EQ(
      ask("eventRows", R"({"filter":"action:alloc","first":1,"count":1})"),
      R"json({"answer":[{"row":1,"event":2,"action":"alloc","name":"b'10400_0","size":512,"stream":0,"time_us":120,)json"
      R"json("text":"alloc         b'10400_0          512 bytes\n(stream 0)"}]})json");
  EXPECT_THAT(ask("eventRows", R"({"filter":"action:alloc","first":3,"count":9})"),
              AllOf(HasSubstr(R"([{"row":3,"event":7,)"), HasSubstr(R"("name":"b'10000_1","size":600,)")));
  EXPECT_EQ(ask("eventRows", R"({"filter":"action:alloc","first":4,"count":9})"), R"({"answer":[]})");
}

TEST_F(StateQuestions, TheRowOfAnEventOrOfTheNextOneListed) {
  const auto row = [&](int event) {
    return number("rowOfEvent", fmt::format(R"({{"filter":"action:alloc","event":{}}})", event));
  };
  EXPECT_EQ(row(-1), "0");
  EXPECT_EQ(row(1), "0");
  EXPECT_EQ(row(3), "2");
  EXPECT_EQ(row(4), "2");
  EXPECT_EQ(row(5), "3");
  EXPECT_EQ(row(8), "4");  // none: behind the last
}

TEST_F(StateQuestions, AnEventLinksItsBlockOrSegment) {
  EXPECT_THAT(
      ask("event", R"({"event":4})"),
      AllOf(HasSubstr(
                R"("event":4,"action":"alloc","name":"b'40000_0","address":"0x40000","size":2048,"stream":1,)"
                R"("stream_handle":"0x7",)"),
            HasSubstr(R"("time_us":140,)"),
            HasSubstr(R"("block":2,"rank":2,"segment":-1,"alloc_event":4,"free_requested_event":-1,)"
                      R"("free_completed_event":-1,)")));
  EXPECT_THAT(ask("event", R"({"event":5})"),
              HasSubstr(R"("block":0,"rank":0,"segment":-1,"alloc_event":1,"free_requested_event":5,)"
                        R"("free_completed_event":6,)"));
  EXPECT_THAT(ask("event", R"({"event":3})"),
              AllOf(HasSubstr(R"("action":"segment_alloc","name":"s'40000_0",)"),
                    HasSubstr(R"("block":-1,"rank":-1,"segment":1,"alloc_event":-1,)")));
  EXPECT_EQ(ask("event", R"({"event":-1})"), R"({"answer":null})");
  EXPECT_EQ(ask("event", R"({"event":8})"), R"({"answer":null})");
}

TEST_F(StateQuestions, SegmentsThatWereNeverFull) {
  // Of 8192 bytes at most 2048 were in use; of 4096 bytes A and B, 1536.
  const std::string found = ask("neverFull", "{}");
  EXPECT_THAT(
      found, HasSubstr(R"("all_segments":2,"segments":2,"never_used_bytes":8704,"worst":[)"
                       R"({"segment":"0x40000","segment_bytes":8192,"most_in_use_bytes":2048,"most_event":4,)"
                       R"("never_used_bytes":6144,"from_event":3,"until_event":null,"expandable":false,)"));
  EXPECT_THAT(
      found, HasSubstr(R"({"segment":"0x10000","segment_bytes":4096,"most_in_use_bytes":1536,"most_event":2,)"
                       R"("never_used_bytes":2560,"from_event":0,"until_event":null,"expandable":false,)"));
  EXPECT_THAT(found, HasSubstr("2 of 2 segments were never full: 8.5 KiB more than"));
}

TEST_F(StateQuestions, FragmentationInTheEnd) {
  // In use are 1024 + 512 + 2048 bytes; 2560 and 6144 are free beside them.
  EXPECT_THAT(
      ask("fragmentation", R"({"event":8})"),
      HasSubstr(
          R"("event":7,"reserved_bytes":12288,"allocated_bytes":3584,"pending_bytes":0,"cached_bytes":8704,)"
          R"("largest_free_bytes":6144,"held_back_bytes":8704,"share":0.2083,"pinned_segments":2,)"));
  EXPECT_THAT(
      ask("fragmentation", R"({"event":3})"),
      HasSubstr(R"("reserved_bytes":12288,"allocated_bytes":1536,"pending_bytes":0,"cached_bytes":10752,)"
                R"("largest_free_bytes":8192,"held_back_bytes":2560,"share":0.2083,"pinned_segments":1,)"));
}

TEST_F(StateQuestions, RectanglesOfAStateAndOfItsSketchAreTheSame) {
  // After event 2, 4096 bytes are 100 pixels: A 24.41, its rounding 0.59, B 12.5, free 62.5. Rows are filled to 80 %.
  const std::string args = fmt::format(
      R"({{"event":2,"window":{{"width":100,"height":50,"zoom":1,"left":0,"top":0}},{}}})", kPlainLook);
  for (const bool sketched : {false, true}) {
    const AnswerOf answer = frame_of(sketched ? "stateSketch" : "layout", args);
    ASSERT_THAT(answer.head, HasSubstr(R"({"name":"rects.x","type":"f32","count":5})"));
    ColumnsInOrder columns(answer);
    EXPECT_THAT(columns.next<float>(5), ElementsAre(0, 0, FloatNear(24.41F, 0.01F), 25, 37.5F));
    EXPECT_THAT(columns.next<float>(5), Each(0));
    EXPECT_THAT(columns.next<float>(5),
                ElementsAre(100, FloatNear(24.41F, 0.01F), FloatNear(0.59F, 0.01F), 12.5F, 62.5F));
    EXPECT_THAT(columns.next<float>(5), Each(40));
    EXPECT_THAT(columns.next<uint8_t>(5),
                ElementsAre(0, 1, 2, 1, 4));  // segment, block, rounding, block, gap
    const auto rows = columns.next<int32_t>(5);
    if (sketched) {
      EXPECT_THAT(rows, Each(-1));
    } else {
      EXPECT_THAT(rows, ElementsAre(0, 0, 0, 1, -1));
    }
    EXPECT_THAT(columns.next<int32_t>(5), ElementsAre(-1, 0, 0, 1, -1));   // ranks
    EXPECT_THAT(columns.next<float>(5), ElementsAre(0.625F, 0, 0, 0, 0));  // free
    const auto colours = columns.next<uint32_t>(5);
    EXPECT_EQ(colours[0], 0U);
    EXPECT_NE(colours[1], 0U);
    EXPECT_EQ(colours[4], 0U);
    EXPECT_THAT(columns.next<uint8_t>(5), Each(1));
    EXPECT_TRUE(columns.are_all_read());
  }
}

TEST_F(StateQuestions, WhatLiesUnderAPoint) {
  EXPECT_EQ(
      picked(4, 999.5, 10),
      R"({"answer":{"segment":0,"block":0,"part":"block","text":"Block b'10000_0, 1000 bytes requested\nstream 0"}})");
  EXPECT_THAT(picked(4, 1000, 10),
              HasSubstr(R"("block":0,"part":"rounding","text":"Lost to rounding: 24 bytes)"));
  EXPECT_THAT(picked(4, 1024, 10), HasSubstr(R"("block":1,"part":"block",)"));
  EXPECT_THAT(picked(4, 1536, 10),
              HasSubstr(R"("segment":0,"block":-1,"part":"gap","text":"Free, 2.5 KiB (2,560 bytes))"));
  EXPECT_EQ(picked(4, 4200, 10), R"({"answer":null})");  // right of the segment
  EXPECT_EQ(picked(4, 10, 45), R"({"answer":null})");    // between the rows
  EXPECT_THAT(picked(4, 10, 60), HasSubstr(R"("segment":1,"block":2,"part":"block",)"));
  EXPECT_THAT(picked(4, 2048, 60),
              HasSubstr(R"("segment":1,"block":-1,"part":"gap","text":"Free, 6.0 KiB (6,144 bytes))"));
  EXPECT_EQ(picked(4, 10, 95), R"({"answer":null})");
  EXPECT_THAT(picked(7, 599, 10),
              HasSubstr(R"("block":3,"part":"block","text":"Block b'10000_1, 600 bytes requested)"));
}

TEST_F(StateQuestions, ASegmentAfterAnEvent) {
  EXPECT_THAT(
      ask("stateSegment", R"({"event":4,"segment":0})"),
      HasSubstr(R"("row":0,"name":"s'10000_0","address":"0x10000","size":4096,"free":2560,"rounding":24,)"
                R"("allocated":1536,"active":1536,"requested":1512,"blocks":2,"free_blocks":1,)"));
  EXPECT_EQ(ask("stateSegment", R"({"event":2,"segment":1})"), R"({"answer":null})");
  EXPECT_THAT(ask("stateSegment", R"({"event":3,"segment":1})"), HasSubstr(R"("size":8192,"free":8192,)"));
  EXPECT_THAT(ask("stateSegment", R"({"event":3,"segment":2})"), HasSubstr("there is no segment 2"));
}

TEST_F(StateQuestions, ABlockAfterAnEvent) {
  EXPECT_THAT(ask("stateBlock", R"({"event":4,"block":0})"),
              AllOf(HasSubstr(
                  R"("row":0,"name":"b'10000_0","address":"0x10000","size":1024,"requested_size":1000,)"
                  R"("rounding":24,"state":"active_allocated","begin":1,"end":6,"alloc_event":1,)"
                  R"("free_requested_event":5,"free_completed_event":6,"rank":0,"segment":0,"stream":0,)")));
  EXPECT_THAT(ask("stateBlock", R"({"event":6,"block":0})"), HasSubstr(R"("state":null,)"));
  EXPECT_THAT(ask("stateBlock", R"({"event":0,"block":0})"), HasSubstr(R"("state":null,)"));
  EXPECT_THAT(ask("stateBlock", R"({"event":1,"block":0})"), HasSubstr(R"("state":"active_allocated",)"));
}

TEST_F(StateQuestions, WhoHoldsAnAddress) {
  // After event 7 D has the 601st byte of its 1,024; A had it before, and who freed A is not recorded.
  EXPECT_THAT(
      ask("owner", R"({"event":7,"address":"0x10258"})"),
      AllOf(HasSubstr(R"({"answer":{"address":"0x10258","device":0,"event":7,"time_us":170,"known":true,)"
                      R"("holder":{"block":3,"rank":3,"name":"b'10000_1","address":"0x10000","size":1024,)"
                      R"("requested_size":600,"offset":600,"state":"active_allocated","begin":7,"end":-1,)"
                      R"("alloc_event":7,"free_requested_event":-1,"free_completed_event":-1,"stream":0,)"),
            HasSubstr(R"("allocated_by":"attend model.py:11",)"),
            HasSubstr(R"("before":[{"block":0,"rank":0,"name":"b'10000_0",)"),
            HasSubstr(R"("freed_by":null,"freed_frames":[]}],"before_left_out":0,"after":[],)"),
            HasSubstr("That byte lies beyond what was requested: rounding made it a part of the block.")));
  // In decimal: 67,072 is right behind B.
  EXPECT_THAT(ask("owner", R"({"event":2,"address":"67072"})"),
              AllOf(HasSubstr(R"("holder":null,)"), HasSubstr(R"("free":{"address":"0x10600","size":2560},)"),
                    HasSubstr(R"("below":{"segment":false,"name":"b'10400_0","address":"0x10400","size":512,)"
                              R"("distance":1},"above":null,)")));
  EXPECT_THAT(ask("owner", R"({"event":2,"address":"here"})"),
              HasSubstr("Say the address as 0x7f3c00001200"));
}

TEST_F(StateQuestions, TheNumberOfPartsOfAReportAndTheReportItself) {
  Session other(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(other, kTrainingRun).has_value());
  const ViewId unprepared = other.open_view(0, 0, Bands::blocks).value_or(0);
  const std::string parts = number("prepareReport", R"({"part":0})");
  EXPECT_GT(std::stoi(parts), 1);
  for (const char* part : {"1", "3", "2", "2147483647"})
    EXPECT_EQ(number("prepareReport", fmt::format(R"({{"part":{}}})", part)), parts);
  const std::string report = ask("report", "{}");
  EXPECT_THAT(report, HasSubstr("3560"));
  EXPECT_EQ(report, asked(other, "report", unprepared));
}

TEST_F(StateQuestions, WhereABlockIsDrawn) {
  const auto place = [&](int event, int block) {
    return ask("statePlace", fmt::format(R"({{"event":{},"block":{},{}}})", event, block, kBytes));
  };
  EXPECT_EQ(
      place(4, 1),
      R"({"answer":{"x":0.0,"y":0.0,"width":4096.0,"height":40.0,"block_x":1024.0,"block_width":512.0}})");
  EXPECT_EQ(
      place(4, 2),
      R"({"answer":{"x":0.0,"y":50.0,"width":8192.0,"height":40.0,"block_x":0.0,"block_width":2048.0}})");
  EXPECT_EQ(place(7, 0), R"({"answer":null})");
  EXPECT_EQ(place(6, 3), R"({"answer":null})");
  EXPECT_THAT(place(4, 4), HasSubstr("there is no block 4"));
}

TEST_F(StateQuestions, RegionsInEveryOrder) {
  const auto regions = [&](std::string_view order, int first, int count) {
    return ask("regions", fmt::format(R"({{"order":"{}","first":{},"count":{}}})", order, first, count));
  };
  EXPECT_EQ(
      regions("address", 0, 9),
      R"json({"answer":{"count":2,"rows":[{"row":0,"name":"s'10000_0","address":"0x10000","size":4096,"stream":0,)json"
      R"json("stream_handle":"0","pool":null,"expandable":false,"pieces":1},{"row":1,"name":"s'40000_0","address":"0x40000",)json"
      R"json("size":8192,"stream":1,"stream_handle":"0x7","pool":null,"expandable":false,"pieces":1}]}})json");
  EXPECT_THAT(regions("size", 0, 1), HasSubstr(R"("count":2,"rows":[{"row":0,"name":"s'40000_0")"));
  EXPECT_THAT(regions("stream", 1, 1), HasSubstr(R"("count":2,"rows":[{"row":1,"name":"s'40000_0")"));
  EXPECT_EQ(regions("size", 9, 1), R"({"answer":{"count":2,"rows":[]}})");
  EXPECT_EQ(regions("size", 2, 1), R"({"answer":{"count":2,"rows":[]}})");
}

TEST_F(StateQuestions, TheAddressMapShowsBlocksAtTheirOffsets) {
  // Two lines for each region, the larger one above. C fills the lower quarter of 8192 bytes, which is one of two lines; of
  // 4096 bytes A and D have [0, 1024), the lower line, B [1024, 1536), the upper one. -1 = not mapped, -2 = free.
  const AnswerOf answer =
      frame_of("addressMap",
               fmt::format(R"({{"order":"size","columns":{{"axis":"event","first":0,"width":1,"count":8}},)"
                           R"("first":0,"count":9,"height":2,{}}})",
                           kPlainLook));
  ColumnsInOrder columns(answer);
  const std::vector<int32_t> expected = {-1, -1, -1, -2, -2, -2, -2, -2,  //
                                         -1, -1, -1, -2, 2,  2,  2,  2,   //
                                         -2, -2, 1,  1,  1,  1,  1,  1,   //
                                         -2, 0,  0,  0,  0,  0,  -2, 3};
  EXPECT_EQ(columns.next<int32_t>(32), expected);
  const auto pixels = columns.next<uint32_t>(32);
  ASSERT_EQ(pixels.size(), 32U);
  EXPECT_EQ(pixels[0], 1U);  // nothing
  EXPECT_EQ(pixels[3], 2U);  // free: the colour of envelopes
  EXPECT_EQ(pixels[25], pixels[26]);
  EXPECT_NE(pixels[25], pixels[31]);  // blocks of one colour differ in lightness
  EXPECT_TRUE(columns.are_all_read());
}

TEST_F(StateQuestions, TheAddressMapByHowMuchIsFree) {
  // Free of 8192 bytes: all, then 6144; of 4096: all, less A, less B, A back, D.
  const AnswerOf answer =
      frame_of("addressMap",
               fmt::format(R"({{"order":"size","columns":{{"axis":"event","first":0,"width":1,"count":8}},)"
                           R"("first":0,"count":2,"height":1,{},"shades":[16,32,48]}})",
                           kPlainLook));
  ColumnsInOrder columns(answer);
  EXPECT_THAT(columns.next<int32_t>(16), ElementsAreArray({-1, -1, -1, -2, 2, 2, 2, 2,  //
                                                           -2, 0, 1, 1, 1, 1, 1, 3}));
  EXPECT_THAT(columns.next<float>(16),
              ElementsAreArray({0.0F, 0.0F, 0.0F, 1.0F, 0.75F, 0.75F, 0.75F, 0.75F,  //
                                1.0F, 0.75F, 0.625F, 0.625F, 0.625F, 0.625F, 0.875F, 0.625F}));
  const auto pixels = columns.next<uint32_t>(16);
  EXPECT_EQ(pixels[0], 1U);              // nothing
  EXPECT_EQ(pixels[3] & 0xFFFFFF, 48U);  // all is free: the last shade
  EXPECT_EQ(pixels[4], pixels[9]);       // all blocks look alike
}

TEST_F(StateQuestions, AnAddressMapOfNoColumnsIsEmpty) {
  const AnswerOf answer =
      frame_of("addressMap",
               fmt::format(R"({{"order":"size","columns":{{"axis":"event","first":0,"width":1,"count":0}},)"
                           R"("first":0,"count":2,"height":1,{},"shades":[16,32]}})",
                           kPlainLook));
  EXPECT_THAT(answer.head, AllOf(HasSubstr(R"({"name":"ranks","type":"i32","count":0})"),
                                 HasSubstr(R"({"name":"freeShares","type":"f32","count":0})")));
  EXPECT_TRUE(answer.columns.empty());
}

TEST_F(StateQuestions, RegionsBlocksAndRanksFindEachOther) {
  const auto region = [&](std::string_view order, int block) {
    return number("regionOfBlock", fmt::format(R"({{"order":"{}","block":{}}})", order, block));
  };
  EXPECT_EQ(region("address", 0), "0");
  EXPECT_EQ(region("address", 2), "1");
  EXPECT_EQ(region("size", 0), "1");
  EXPECT_EQ(region("size", 2), "0");
  EXPECT_THAT(region("size", 4), HasSubstr("there is no block 4"));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(number("blockOfRank", fmt::format(R"({{"rank":{}}})", rank)), std::to_string(rank));
    EXPECT_EQ(number("rankOfBlock", fmt::format(R"({{"block":{}}})", rank)), std::to_string(rank));
  }
  EXPECT_EQ(number("blockOfRank", R"({"rank":-1})"), "-1");
  EXPECT_EQ(number("blockOfRank", R"({"rank":4})"), "-1");
  EXPECT_THAT(number("rankOfBlock", R"({"block":4})"), HasSubstr("there is no block 4"));
}

}  // namespace
}  // namespace gpustrata::session
