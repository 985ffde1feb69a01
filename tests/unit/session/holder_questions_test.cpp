// Who holds memory, on the run of training_run.h: by line, by category, what is never freed, lines of source.
#include <gmock/gmock.h>

#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using HolderQuestions = TrainingRun;

constexpr std::string_view kOwnRules = R"(weights 0.5 frame:mlp kept\nrest 1.0)";

TEST_F(HolderQuestions, LinesWithWhatAFilterMeans) {
  // After event 4: B and C of mlp, 2560 bytes, of which the filter means B's 512; A of attend.
  EXPECT_EQ(
      ask("holders", R"({"by":"line","event":4,"filter":"size:512","first":0,"count":10})"),
      R"json({"answer":{"event":4,"bytes":3560,"blocks":3,"count":2,"labelled":false,"by_lifetime":false,"rows":[)json"
      R"json({"key":1,"label":"mlp model.py:20","file":"model.py","line":20,"bytes":2560,"blocks":2,"lit_bytes":512,)json"
      R"json("largest":2,"sure":null,"says":"","filter":"who:\"model.py:20:mlp\""},)json"
      R"json({"key":0,"label":"attend model.py:10","file":"model.py","line":10,"bytes":1000,"blocks":1,"lit_bytes":0,)json"
      R"json("largest":0,"sure":null,"says":"","filter":"who:\"model.py:10:attend\""}]}})json");
}

TEST_F(HolderQuestions, FilesAndFunctionsAndTheEndOfTheRecording) {
  // Event 8 is the end: B, C and D, all of model.py.
  EXPECT_THAT(ask("holders", R"({"by":"file","event":8,"filter":"","first":0,"count":10})"),
              HasSubstr(R"("event":7,"bytes":3160,"blocks":3,"count":1,)"));
  EXPECT_THAT(
      ask("holders", R"({"by":"function","event":8,"filter":"","first":1,"count":10})"),
      AllOf(HasSubstr(R"("count":2,)"),
            HasSubstr(R"("label":"attend model.py","file":"model.py","line":0,"bytes":600,"blocks":1,)"),
            Not(HasSubstr(R"("label":"mlp)"))));
  EXPECT_THAT(ask("holders", R"({"by":"line","event":-1,"filter":"","first":0,"count":10})"),
              HasSubstr(R"("bytes":0,"blocks":0,"count":0,)"));
}

TEST_F(HolderQuestions, RulesOfAUserDecideCategories) {
  // "weights" are B and C, which stay; "rest" is D.
  const auto rows = [&](int first) {
    return ask("holders",
               fmt::format(R"({{"by":"category","event":8,"filter":"","rules":"{}","first":{},"count":1}})",
                           kOwnRules, first));
  };
  EXPECT_THAT(rows(0),
              AllOf(HasSubstr(R"("count":2,)"),
                    HasSubstr(R"("label":"weights","file":"","line":0,"bytes":2560,"blocks":2,"lit_bytes":0,)"
                              R"("largest":2,"sure":0.5,)"),
                    Not(HasSubstr(R"("label":"rest")"))));
  EXPECT_THAT(rows(1), HasSubstr(R"("label":"rest","file":"","line":0,"bytes":600,"blocks":1,)"));
  EXPECT_THAT(rows(2), HasSubstr(R"("rows":[])"));
}

TEST_F(HolderQuestions, TheRuleThatDecidedIsTold) {
  const auto category = [&](int rank) {
    return ask("category", fmt::format(R"({{"rank":{},"rules":"{}"}})", rank, kOwnRules));
  };
  EXPECT_EQ(category(1),
            R"({"answer":{"name":"weights","sure":0.5,"line":1,"rule":"weights 0.5 frame:mlp kept"}})");
  EXPECT_EQ(category(0), R"({"answer":{"name":"rest","sure":1.0,"line":2,"rule":"rest 1.0"}})");
  EXPECT_EQ(ask("category", R"({"rank":0,"rules":"weights 0.5 frame:mlp"})"),
            R"({"answer":{"name":"unknown","sure":null,"line":null,"rule":null}})");
}

TEST_F(HolderQuestions, RulesAreReadBackOrRefusedWithTheirLine) {
  const auto rules = [&](std::string_view text) {
    return asked(session, "categoryRules", 0, fmt::format(R"({{"text":"{}"}})", text));
  };
  EXPECT_EQ(rules(kOwnRules), R"({"answer":{"names":["unknown","weights","rest"],"rules":2,)"
                              R"("text":"weights 0.5 frame:mlp kept\nrest 1.0"}})");
  EXPECT_THAT(rules(R"(weights 0.5 kept\nrest)"),
              AllOf(HasSubstr(R"("code":"invalid_format")"), HasSubstr("line 2:")));
  // The engine's own.
  EXPECT_THAT(rules(" "), HasSubstr(R"("names":["unknown","parameter","gradient","optimizer_state",)"));
}

TEST_F(HolderQuestions, WhatIsNeverFreedByLine) {
  // B, C and D stay; of them C and D are made from event 3 on, and B alone before event 4.
  EXPECT_EQ(
      ask("neverFreed", R"({"from":-1,"until":8})"),
      R"json({"answer":{"bytes":3160,"blocks":3,"filter":"freed:never born<=7","rows":[)json"
      R"json({"who":"mlp model.py:20","bytes":2560,"blocks":2,"rank":2,"filter":"stack:\"model.py:20:mlp\" freed:never born<=7"},)json"
      R"json({"who":"attend model.py:11","bytes":600,"blocks":1,"rank":3,"filter":"stack:\"model.py:11:attend\" freed:never born<=7"}],)json"
      R"json("other":{"bytes":0,"blocks":0,"rows":0}}})json");
  EXPECT_THAT(ask("neverFreed", R"({"from":3,"until":7})"),
              HasSubstr(R"("bytes":2648,"blocks":2,"filter":"freed:never born<=7 born>=3")"));
  EXPECT_THAT(ask("neverFreed", R"({"from":-1,"until":3})"), HasSubstr(R"("bytes":512,"blocks":1,)"));
  EXPECT_THAT(ask("neverFreed", R"({"from":4,"until":4})"), HasSubstr(R"("bytes":2048,"blocks":1,)"));
}

TEST_F(HolderQuestions, FilesOfSourceByWhatTheirOwnLinesAskedFor) {
  EXPECT_EQ(ask("sourceFiles", R"({"event":4})"),
            R"({"answer":[{"file":"model.py","bytes":3560,"blocks":3}]})");
  EXPECT_EQ(ask("sourceFiles", R"({"event":8})"),
            R"({"answer":[{"file":"model.py","bytes":3160,"blocks":3}]})");
  EXPECT_EQ(ask("sourceFiles", R"({"event":0})"), R"({"answer":[]})");
}

TEST_F(HolderQuestions, LinesOfSourceByWhatTheyAskedForAndWhatPassedThroughThem) {
  EXPECT_EQ(ask("sourceLines", R"({"event":8,"file":"model.py"})"),
            R"({"answer":{"lines":[{"line":11,"own_bytes":600,"own_blocks":1,"bytes":600,"blocks":1},)"
            R"({"line":20,"own_bytes":2560,"own_blocks":2,"bytes":2560,"blocks":2}],"lines_left_out":0}})");
  EXPECT_EQ(
      ask("sourceLines", R"({"event":4,"file":"train.py"})"),
      R"({"answer":{"lines":[{"line":5,"own_bytes":0,"own_blocks":0,"bytes":3560,"blocks":3}],"lines_left_out":0}})");
  EXPECT_EQ(ask("sourceLines", R"({"event":4,"file":"nothing.py"})"),
            R"({"answer":{"lines":[],"lines_left_out":0}})");
}

}  // namespace
}  // namespace gpustrata::session
