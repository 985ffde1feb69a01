// Who asked for memory, as a flame graph and as its table, on the run of training_run.h.
#include <gmock/gmock.h>

#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

class CallQuestions : public TrainingRun {
 protected:
  // Bytes of a moment by line, or by `by`; all frames.
  [[nodiscard]] static std::string tree(int to, std::string_view by = "line", std::string_view filter = "",
                                        bool only_filtered = false) {
    return fmt::format(
        R"("tree":{{"of":"moment","from":-1,"to":{},"weight":"bytes","by":"{}","frames":"all",)"
        R"("inverted":false,"filter":"{}","onlyFiltered":{}}})",
        to, by, filter, only_filtered);
  }
  [[nodiscard]] AnswerOf flame(std::string_view tree, std::string_view path, int rows = 10,
                               std::string_view search = "") {
    return frame_of("flame", fmt::format(R"({{{},"path":{},"width":100,"rows":{},"search":"{}"}})", tree,
                                         path, rows, search));
  }
  [[nodiscard]] std::string call_facts(int to) { return ask("callFacts", fmt::format("{{{}}}", tree(to))); }
};

TEST_F(CallQuestions, AFlameGraphIsAsWideAsItsBytes) {
  // After event 4 step holds all 3560 bytes: mlp 2560 of them, 71.91 of 100 pixels, and attend 1000. The filter means B.
  const AnswerOf answer = flame(tree(4, "line", "size:512"), "[]", 10, "attend");
  EXPECT_THAT(
      answer.head,
      HasSubstr(R"("unit":"bytes","total":3560.0,"grew":0.0,"lit":512.0,"blocks":3,"rest":0.0,)"
                R"("found":{"weight":1000.0,"grew":0.0,"frames":1},"steps":0,"rows":3,"cut":false,)"));
  EXPECT_THAT(answer.head, HasSubstr(R"("frames":[{"key":1,"label":"step train.py:5","name":"step",)"));
  ColumnsInOrder columns(answer);
  EXPECT_THAT(columns.next<int32_t>(4), ElementsAre(-1, 0, 1, 2));  // frames, of the root none
  EXPECT_THAT(columns.next<int32_t>(4), ElementsAre(0, 1, 2, 2));   // rows
  EXPECT_THAT(columns.next<int32_t>(4), ElementsAre(-1, 0, 1, 1));  // callers
  EXPECT_THAT(columns.next<float>(4), ElementsAre(0, 0, 0, FloatNear(71.91F, 0.01F)));
  EXPECT_THAT(columns.next<float>(4), ElementsAre(100, 100, FloatNear(71.91F, 0.01F), 100));
  EXPECT_THAT(columns.next<double>(4), ElementsAre(3560, 3560, 2560, 1000));
  EXPECT_THAT(columns.next<double>(4), ElementsAre(0, 0, 2560, 1000));  // their own
  EXPECT_THAT(columns.next<double>(4), ElementsAre(0, 0, 0, 0));        // grew
  EXPECT_THAT(columns.next<double>(4), ElementsAre(512, 512, 512, 0));  // lit
  EXPECT_THAT(columns.next<double>(4), ElementsAre(3, 3, 2, 1));        // blocks
  EXPECT_THAT(columns.next<int32_t>(4), ElementsAre(0, 0, 0, 1));       // found
  EXPECT_TRUE(columns.are_all_read());
}

TEST_F(CallQuestions, TheEndOfAPathFillsTheWidth) {
  // Keys are frames in order of appearance: attend:10 is 0, step 1, mlp 2.
  const AnswerOf answer = flame(tree(4), "[1,2]");
  EXPECT_THAT(answer.head, HasSubstr(R"("steps":2,"rows":3,"cut":false,)"));
  ColumnsInOrder columns(answer);
  for (int i = 0; i < 3; ++i) (void)columns.next<int32_t>(3);
  EXPECT_THAT(columns.next<float>(3), ElementsAre(0, 0, 0));
  EXPECT_THAT(columns.next<float>(3), ElementsAre(100, 100, 100));
  EXPECT_THAT(columns.next<double>(3), ElementsAre(3560, 3560, 2560));
  // A path that this moment does not have ends where it last did.
  EXPECT_THAT(flame(tree(0), "[1,2]").head, HasSubstr(R"("total":0.0,)"));
  EXPECT_THAT(flame(tree(0), "[1,2]").head, HasSubstr(R"("steps":0,)"));
}

TEST_F(CallQuestions, RowsBeyondThoseWantedAreCutOff) {
  EXPECT_THAT(flame(tree(4), "[]", 2).head, HasSubstr(R"("rows":2,"cut":true,)"));
  EXPECT_THAT(flame(tree(4), "[]", 3).head, HasSubstr(R"("rows":3,"cut":false,)"));
}

TEST_F(CallQuestions, OnlyWhatAFilterMeansIfOnlyThatIsWanted) {
  EXPECT_THAT(flame(tree(4, "line", "size:512", true), "[]").head,
              HasSubstr(R"("total":512.0,"grew":0.0,"lit":512.0,"blocks":1,)"));
}

TEST_F(CallQuestions, TheTableHasARowForEachFrame) {
  const auto rows = [&](std::string_view order, std::string_view more) {
    return ask("flameRows", fmt::format(R"({{{},"search":"","order":"{}",{}}})", tree(4), order, more));
  };
  EXPECT_EQ(
      rows("self", R"("descending":true,"first":0,"count":10)"),
      R"json({"answer":{"unit":"bytes","total":3560.0,"grew":0.0,"rest":0.0,"count":3,"rows":[)json"
      R"json({"key":2,"label":"mlp model.py:20","name":"mlp","file":"model.py","line":20,"from":"own","filter":"call:\"model.py:20:mlp\"",)json"
      R"json("weight":2560.0,"self":2560.0,"grew":0.0,"self_grew":0.0,"blocks":2},)json"
      R"json({"key":0,"label":"attend model.py:10","name":"attend","file":"model.py","line":10,"from":"own","filter":"call:\"model.py:10:attend\"",)json"
      R"json("weight":1000.0,"self":1000.0,"grew":0.0,"self_grew":0.0,"blocks":1},)json"
      R"json({"key":1,"label":"step train.py:5","name":"step","file":"train.py","line":5,"from":"own","filter":"call:\"train.py:5:step\"",)json"
      R"json("weight":3560.0,"self":0.0,"grew":0.0,"self_grew":0.0,"blocks":3}]}})json");
  const auto first = [&](std::string_view order, bool descending) {
    const std::string text = rows(order, fmt::format(R"("descending":{},"first":0,"count":1)", descending));
    const size_t at = text.find(R"("name":")");
    return at == std::string::npos ? text : text.substr(at + 8, text.find('"', at + 8) - at - 8);
  };
  EXPECT_EQ(first("name", false), "attend");
  EXPECT_EQ(first("name", true), "step");
  EXPECT_EQ(first("total", true), "step");
  EXPECT_EQ(first("total", false), "attend");
  EXPECT_EQ(first("self", false), "step");
  EXPECT_EQ(first("blocks", true), "step");
  EXPECT_EQ(first("blocks", false), "attend");
  EXPECT_THAT(rows("total", R"("descending":true,"first":2,"count":1)"), HasSubstr(R"("rows":[{"key":0,)"));
  EXPECT_THAT(rows("total", R"("descending":true,"first":3,"count":1)"), HasSubstr(R"("count":3,"rows":[])"));
}

TEST_F(CallQuestions, TheTableCanBeSearched) {
  EXPECT_THAT(
      ask("flameRows",
          fmt::format(R"({{{},"search":"MODEL.PY:2","order":"total","descending":true,"first":0,"count":9}})",
                      tree(4))),
      HasSubstr(R"("count":1,"rows":[{"key":2,)"));
}

TEST_F(CallQuestions, TwoMomentsOfOneRun) {
  // From event 4 to 7: attend:10 lost 1000 bytes, attend:11 gained 600. What moved is 1600, of which 600 grew.
  const auto between = [&](std::string_view by) {
    return ask(
        "flameRows",
        fmt::format(
            R"({{"tree":{{"of":"difference","from":4,"to":7,"weight":"bytes","by":"{}","frames":"all",)"
            R"("inverted":false,"filter":"","onlyFiltered":false}},"search":"","order":"change",)"
            R"("descending":true,"first":0,"count":9}})",
            by));
  };
  const std::string lines = between("line");
  EXPECT_THAT(lines, HasSubstr(R"("total":1600.0,"grew":600.0,"rest":0.0,"count":3,)"));
  EXPECT_THAT(lines, HasSubstr(R"("weight":600.0,"self":600.0,"grew":600.0,"self_grew":600.0,"blocks":1})"));
  EXPECT_THAT(lines, HasSubstr(R"("weight":1000.0,"self":1000.0,"grew":0.0,"self_grew":0.0,"blocks":-1})"));
  EXPECT_LT(lines.find(R"("line":11)"), lines.find(R"("line":5)"));
  EXPECT_LT(lines.find(R"("line":5)"), lines.find(R"("line":10)"));
  // By function the two are one, which lost 400.
  EXPECT_THAT(between("function"), HasSubstr(R"("total":400.0,"grew":0.0,"rest":0.0,)"));
}

TEST_F(CallQuestions, CallsOfAnotherFileComeAsFacts) {
  EXPECT_EQ(
      call_facts(4),
      R"({"answer":{"texts":["step","train.py","mlp","model.py","attend"],"names":[0,2,4],"files":[1,3,3],)"
      R"("lines":[5,20,10],"frames":[0,1,2],"callers":[-1,0,0],"weights":[0.0,2560.0,1000.0],"blocks":[0,2,1],)"
      R"("without":0.0,"withoutBlocks":0,"rest":0.0,"restBlocks":0}})");
  const std::string told = call_facts(4);
  const std::string before = told.substr(10, told.size() - 11);  // less {"answer": and }
  const auto rows = [&](int to, std::string_view facts) {
    return ask("flameRows",
               fmt::format(
                   R"({{{},"before":{},"search":"","order":"change","descending":true,"first":0,"count":9}})",
                   tree(to), facts));
  };
  // The same as the difference of two moments.
  EXPECT_THAT(rows(7, before), HasSubstr(R"("total":1600.0,"grew":600.0,"rest":0.0,"count":3,)"));
  EXPECT_THAT(rows(4, before), HasSubstr(R"("total":0.0,"grew":0.0,"rest":0.0,"count":0,)"));
  const AnswerOf graph = frame_of(
      "flame",
      fmt::format(R"({{{},"before":{},"path":[],"width":100,"rows":9,"search":""}})", tree(7), before));
  EXPECT_THAT(graph.head, HasSubstr(R"("total":1600.0,"grew":600.0,)"));
}

}  // namespace
}  // namespace gpustrata::session
