// What is asked wrongly is refused in words, and an answer is laid out as frame.h says.
#include "engine/session/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/session/asking.h"

namespace gpustrata::session {
namespace {

using testing::HasSubstr;

class QuestionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(read_bytes(session, golden_input("private_pool")).has_value());
    view = session.open_view(0, 0, Bands::blocks).value_or(0);
    ASSERT_GT(view, 0);
  }
  [[nodiscard]] std::string refused(std::string_view name, std::string_view args) {
    const std::string head = asked(session, name, view, args);
    return head.starts_with(R"({"error":{"code":"wrong_usage","message":")") ? head.substr(41)
                                                                             : "not refused: " + head;
  }

  Session session{int64_t{1} << 28};
  ViewId view = 0;
};

TEST_F(QuestionsTest, TheTableNamesTypesThatExistAndEveryQuestionOnce) {
  std::set<std::string_view> names;
  for (const Question& question : questions()) {
    EXPECT_TRUE(is_signature(question.arguments)) << question.name;
    EXPECT_TRUE(names.insert(question.name).second) << question.name;
    EXPECT_NE(question.reply, nullptr) << question.name;
    EXPECT_FALSE(question.answer.empty()) << question.name;
  }
}

TEST_F(QuestionsTest, NumbersFromOutsideAreChecked) {
  const auto totals = [&](std::string_view event) {
    return refused("totals", R"({"event":)" + std::string(event) + "}");
  };
  const int32_t events = session.view(view)->event_count();
  EXPECT_THAT(totals("-2"), HasSubstr("`event` must be from -1 to"));
  EXPECT_THAT(totals(std::to_string(events + 1)), HasSubstr("`event` must be from -1 to"));
  EXPECT_THAT(totals("9223372036854775808"), HasSubstr("`event` must be from -1 to"));
  EXPECT_THAT(totals("0.5"), HasSubstr("`event` must be whole; 0.5 is not"));
  EXPECT_THAT(totals("null"), HasSubstr("`event` must be a number"));  // what NaN becomes
  EXPECT_THAT(totals("\"1\""), HasSubstr("`event` must be a number"));
  EXPECT_THAT(asked(session, "totals", view, R"({"event":-1})"), HasSubstr(R"("event":-1)"));
  EXPECT_THAT(asked(session, "totals", view, "{\"event\":" + std::to_string(events) + "}"),
              HasSubstr("reserved"));
  EXPECT_THAT(asked(session, "totals", view, R"({"event":1e400})"), HasSubstr("a number is too large"));
}

TEST_F(QuestionsTest, WhatIsMissingOrUnknownIsNamed) {
  EXPECT_THAT(refused("totals", "{}"), HasSubstr("totals: `event` is missing"));
  EXPECT_THAT(refused("totals", R"({"event":0,"evnet":1})"), HasSubstr("there is no argument `evnet`"));
  EXPECT_THAT(refused("kinds", R"({"by":"colour"})"), HasSubstr("`by` must be one of: allocation, stack"));
  EXPECT_THAT(refused("highest", R"({"columns":{"axis":"event","first":0,"width":0,"count":1}})"),
              HasSubstr("`width` must be from 1"));
  EXPECT_THAT(refused("position", R"({"axis":"event","events":[0,1,"2"]})"),
              HasSubstr("`events` must be a number"));
  EXPECT_THAT(refused("stateBlock", R"({"event":0,"block":77})"), HasSubstr("there is no block 77"));
  EXPECT_THAT(refused("findEvent", R"({"kind":"no such","from":0,"backwards":true})"),
              HasSubstr("there is no action"));
  EXPECT_THAT(asked(session, "nonsense"), HasSubstr("there is no question"));
  EXPECT_THAT(asked(session, "states", 77), HasSubstr("there is no such view"));
  EXPECT_THAT(asked(session, "contents", view), HasSubstr("about the file"));
}

TEST_F(QuestionsTest, FramesThatAreNoQuestionAreRefused) {
  const std::string good = question_frame(R"({"ask":"contents"})", 7);
  EXPECT_EQ(asked_frame(session, good).id, 7U);
  EXPECT_THAT(asked_frame(session, "").head, HasSubstr(R"("code":"truncated")"));
  EXPECT_THAT(asked_frame(session, good.substr(0, 23)).head, HasSubstr(R"("code":"truncated")"));
  EXPECT_THAT(asked_frame(session, good.substr(0, 30)).head, HasSubstr(R"("code":"truncated")"));
  EXPECT_EQ(asked_frame(session, good.substr(0, 30)).id, 7U);
  EXPECT_THAT(asked_frame(session, good + "x").head, HasSubstr("bytes follow the question"));
  EXPECT_THAT(asked_frame(session, question_frame("{}", 1, kProtocolVersion + 1)).head,
              HasSubstr("not of the same release"));
  EXPECT_THAT(asked_frame(session, "MSTA" + good.substr(4)).head, HasSubstr("this is no question"));
  EXPECT_THAT(asked_frame(session, question_frame("[1,2")).head, HasSubstr(R"("code":"invalid_format")"));
  EXPECT_THAT(asked_frame(session, question_frame(std::string(1 << 21, ' '))).head,
              HasSubstr(R"("code":"limit_exceeded")"));
}

// Levels by event: 500 from 2 on, 1300 from 3, 800 from 5, 0 after 6 (golden case private_pool).
TEST_F(QuestionsTest, ColumnsFollowTheHeadFromMultiplesOfEight) {
  const AnswerOf answer = asked_frame(
      session,
      question_frame(
          R"({"ask":"picture","view":1,"args":{"columns":{"axis":"event","first":1,"width":1,"count":3},)"
          R"("rows":{"bottom":0,"bytesPerRow":500,"count":3},"look":{"palette":{"bands":[4278190335],)"
          R"("nothing":7,"dimmedTowards":0,"envelope":0},"colourBy":"allocation","filter":"","kind":-1}}})"));
  EXPECT_EQ(answer.magic, kAnswerMagic);
  EXPECT_EQ(answer.version, kProtocolVersion);
  EXPECT_EQ(
      answer.head,
      R"({"answer":{"curves":{}},"columns":[{"name":"pixels","type":"rgba","count":9},)"
      R"({"name":"curves.event","type":"i32","count":3},{"name":"curves.highest","type":"f64","count":3},)"
      R"({"name":"curves.lowest","type":"f64","count":3},{"name":"curves.allocated","type":"f64","count":3},)"
      R"({"name":"curves.reserved","type":"f64","count":3}]})");
  ASSERT_EQ(answer.columns.size(), 40U + 16 + 4 * 24);  // 36 and 12 are padded
  const auto pixels = answer.column<uint32_t>(0, 9);
  EXPECT_EQ(pixels[0], 7U);  // top left: nothing
  EXPECT_NE(pixels[7], 7U);  // bottom, event 2: the first block
  EXPECT_EQ(answer.column<int32_t>(40, 3), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(answer.column<double>(56, 3), (std::vector<double>{0, 500, 1300}));
}

TEST_F(QuestionsTest, PlacesInTextsAreUnitsOfUtf16) {
  // A number is missing behind "é" (1 unit), U+1F600 (2 units) and " size>" (6 units): 9 units, 12 bytes.
  EXPECT_THAT(asked(session, "filter", view, "{\"text\":\"é😀 size>x\"}"), HasSubstr(R"("offset":9)"));
  EXPECT_THAT(asked(session, "complete", view, "{\"text\":\"é😀 si\",\"cursor\":6}"),
              HasSubstr(R"("from":4,"items":[{"text":"size)"));
}

TEST_F(QuestionsTest, ALookIsAnArgumentAndNothingStays) {
  const auto picture = [&](std::string_view filter, int kind) {
    return asked_frame(
               session,
               question_frame(
                   R"({"ask":"picture","view":1,"args":{"columns":{"axis":"event","first":0,"width":1,"count":6},)"
                   R"("rows":{"bottom":0,"bytesPerRow":100,"count":20},"look":{"palette":{"bands":[4278190335,4278255360],)"
                   R"("nothing":7,"dimmedTowards":4294967295,"envelope":0},"colourBy":"pool","filter":")" +
                   std::string(filter) + R"(","kind":)" + std::to_string(kind) + "}}}"))
        .columns;
  };
  const auto plain = picture("", -1);
  const auto dimmed = picture("pool:0,1", -1);
  EXPECT_NE(plain, dimmed);
  EXPECT_NE(picture("", 0), plain);
  EXPECT_EQ(picture("", -1), plain);
  EXPECT_EQ(picture("pool:0,1", -1), dimmed);
}

// Blocks alone are highest after event 1: 5000 bytes in the pool. With the envelope of the pool, 8192 bytes that stay,
// the highest point is event 5: 8192 + 3000.
TEST(QuestionsAboutPeaks, AViewHasOnePeakThatAllQuestionsMean) {
  constexpr std::string_view kFile = R"({"segments":[
{"device":0,"address":4096,"total_size":8192,"stream":0,"segment_pool_id":[0,1],"blocks":[
{"address":4096,"size":8192,"requested_size":0,"state":"inactive"}]},
{"device":0,"address":65536,"total_size":4096,"stream":0,"segment_pool_id":[0,0],"blocks":[
{"address":65536,"size":4096,"requested_size":3000,"state":"active_allocated"}]}],
"device_traces":[[
{"action":"segment_alloc","addr":4096,"size":8192,"stream":0,"frames":[]},
{"action":"alloc","addr":4096,"size":5000,"stream":0,"frames":[]},
{"action":"free_requested","addr":4096,"size":5000,"stream":0,"frames":[]},
{"action":"free_completed","addr":4096,"size":5000,"stream":0,"frames":[]},
{"action":"segment_alloc","addr":65536,"size":4096,"stream":0,"frames":[]},
{"action":"alloc","addr":65536,"size":3000,"stream":0,"frames":[]}]]})";
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(session, kFile).has_value());
  const auto expect_peak = [&](Bands bands, int64_t bytes, int event, std::string_view alive) {
    const ViewId view = session.open_view(0, 0, bands).value_or(0);
    ASSERT_GT(view, 0);
    const ViewInfo info = session.view(view)->info();
    EXPECT_EQ(info.peak_bytes, bytes);
    EXPECT_EQ(info.peak_event, event);
    EXPECT_EQ(asked(session, "findEvent", view, R"({"kind":"peak","from":0,"backwards":false})"),
              R"({"answer":)" + std::to_string(event) + "}");
    EXPECT_THAT(asked(session, "states", view), HasSubstr("\"peak_event\":" + std::to_string(event) + ","));
    EXPECT_THAT(asked(session, "filter", view, R"({"text":"alive@peak"})"), HasSubstr(alive));
  };
  expect_peak(Bands::blocks, 5000, 1, R"({"count":1,"bytes":5000,"at_peak":5000,)");
  expect_peak(Bands::pools, 8192 + 3000, 5, R"({"count":1,"bytes":3000,"at_peak":3000,)");
  expect_peak(Bands::segments, 8192 + 4096, 4, R"({"count":2,"bytes":12288,"at_peak":12288,)");
}

}  // namespace
}  // namespace gpustrata::session
