// Two views compared by facts, as a page does with two engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// What of the answer `facts` the question `compare` takes.
[[nodiscard]] std::string facts_of(Session& session, ViewId view, int32_t event) {
  const std::string told = asked(session, "facts", view, "{\"event\":" + std::to_string(event) + "}");
  const size_t from = told.find("\"keys\""), until = told.find(",\"parts\"");
  EXPECT_NE(from, std::string::npos);
  EXPECT_NE(until, std::string::npos);
  return "{" + told.substr(from, until - from) + "}";
}

class CompareQuestions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(read_bytes(session, golden_input("private_pool")).has_value());
    view = session.open_view(0, 0, Bands::blocks).value_or(0);
    ASSERT_GT(view, 0);
    last = session.view(view)->event_count() - 1;
  }
  [[nodiscard]] std::string facts(int32_t event) { return facts_of(session, view, event); }
  [[nodiscard]] std::string compared(const std::string& before, int32_t event) {
    return asked(session, "compare", view,
                 "{\"event\":" + std::to_string(event) + ",\"before\":" + before + "}");
  }

  Session session{int64_t{1} << 28};
  ViewId view = 0;
  int32_t last = 0;
};

TEST_F(CompareQuestions, AMomentIsTheSameAsItself) {
  const std::string same = compared(facts(last), last);
  EXPECT_THAT(same, HasSubstr("\"rows\":[]"));
  EXPECT_THAT(same, HasSubstr("\"other\":{\"rows\":0,\"before_bytes\":0,\"after_bytes\":0"));
}

TEST_F(CompareQuestions, WhatTheFactsDoNotTellIsARest) {
  const std::string nothing =
      R"({"keys":[],"places":[],"sizes":[],"counts":[],"rest_bytes":77,"rest_blocks":3})";
  const std::string found = compared(nothing, last);
  EXPECT_THAT(found, HasSubstr("\"before\":{\"bytes\":77,\"blocks\":3}"));
  EXPECT_THAT(found, HasSubstr("\"rest\":{\"rows\":0,\"before_bytes\":77,\"after_bytes\":0"));
}

using ComparedMoments = TrainingRun;

TEST_F(ComparedMoments, ARowNamesItsStackAmongTheFactsBefore) {
  const auto compared = [&](int32_t event) {
    return ask("compare",
               "{\"event\":" + std::to_string(event) + ",\"before\":" + facts_of(session, view, 4) + "}");
  };
  // The facts of event 4 are mlp, 2560 bytes, and attend:10, 1000 bytes. By event 7 attend:11 has 600 in its place.
  EXPECT_THAT(compared(7), HasSubstr("\"rows\":[{\"change\":\"shrank\",\"before\":1,\"before_bytes\":1000,"
                                     "\"after_bytes\":600,"));
  // At event 2 mlp has 512 bytes.
  EXPECT_THAT(compared(2), HasSubstr("\"rows\":[{\"change\":\"shrank\",\"before\":0,\"before_bytes\":2560,"
                                     "\"after_bytes\":512,"));
}

TEST_F(CompareQuestions, ListsOfDifferentLengthsAreRefused) {
  const std::string uneven =
      R"({"keys":["a"],"places":[],"sizes":[],"counts":[],"rest_bytes":0,"rest_blocks":0})";
  EXPECT_THAT(compared(uneven, last), HasSubstr("must be of one length"));
}

TEST_F(CompareQuestions, ItIsSaidHowStacksMatched) {
  EXPECT_THAT(
      compared(facts(last), last),
      AllOf(HasSubstr("\"matching\":{\"stack\":"),
            HasSubstr("\"functions\":0,\"only_before\":0,\"only_after\":0"), HasSubstr("matched by")));
}

TEST_F(CompareQuestions, LevelsOfRegionsMayBeOfNone) {
  const auto levels = [&](std::string_view of, std::string_view columns) {
    return asked(session, "levels", view,
                 "{\"of\":[" + std::string(of) + "],\"columns\":{\"first\":0,\"width\":65536," +
                     std::string(columns) + "}}");
  };
  EXPECT_THAT(levels(R"("allocated")", R"("axis":"region","region":"x","count":2)"),
              HasSubstr("\"levels.0.highest\""));
  EXPECT_THAT(levels(R"("allocated")", R"("axis":"region","count":2)"), HasSubstr("\"levels.0.highest\""));
  EXPECT_THAT(levels(R"("nothing")", R"("axis":"step","count":2)"), HasSubstr("`of` must be one of"));
}

TEST_F(CompareQuestions, LevelsOfFreeMemoryAreBounded) {
  EXPECT_THAT(asked(session, "levels", view,
                    R"({"of":["cached"],"columns":{"axis":"event","first":0,"width":1,"count":257}})"),
              HasSubstr("free memory in 257 columns is more than in 256"));
  std::string of = "\"allocated\"";
  for (int i = 0; i < 16; ++i) of += ",\"allocated\"";
  EXPECT_THAT(asked(session, "levels", view,
                    "{\"of\":[" + of + R"(],"columns":{"axis":"event","first":0,"width":1,"count":1}})"),
              HasSubstr("17 levels are more than 16"));
}

}  // namespace
}  // namespace gpustrata::session
