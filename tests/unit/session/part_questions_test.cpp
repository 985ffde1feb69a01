// Questions about parts of a file that are no snapshots: operators of a memory tracker, a fleet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/unit/files.h"
#include "tests/unit/io/py.h"
#include "tests/unit/session/training_run.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::Py;

// {op: (name, MiB)}, as MemoryTracker writes it.
[[nodiscard]] Py op_table(std::initializer_list<double> levels) {
  std::vector<Py> entries;
  int op = 0;
  for (const double level : levels) {
    entries.emplace_back(op);
    entries.push_back(Py::tuple(
        {Py(std::string(op < 2 ? "a" : "b") + ".forward.mm.default_" + std::to_string(op)), Py(level)}));
    ++op;
  }
  return Py::dict_of(std::move(entries));
}

// Levels of 2, 5, 4 and 8 MiB: +3, -1 and +4.
TEST(PartQuestions, OperatorsWithTheMostFirst) {
  const std::string file =
      tests::pickled(Py::dict({{"memories_allocated", op_table({2, 5, 4, 8})},
                               {"memories_active", op_table({2, 6, 4, 8})},
                               {"memories_reserved", op_table({10, 10, 20, 20})},
                               {"markers", Py::dict({{"fw_start", 0}, {"fw_bw_boundary", 2}})},
                               {"num_alloc_retries", 7}}));
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(session, file).has_value());
  const std::string found = asked(session, "operators", 0, R"({"part":0,"most":2})");
  constexpr int kTwoTo20 = 1 << 20;
  EXPECT_THAT(found, AllOf(HasSubstr(R"("ops":4,"retries":7,"markers":{"fw_start":0,"fw_bw_boundary":2},)"),
                           HasSubstr(fmt::format(R"("peak":{{"allocated_bytes":{},"op":3}},)", 8 * kTwoTo20)),
                           HasSubstr(fmt::format(R"("active_peak_bytes":{},)", 8 * kTwoTo20)),
                           HasSubstr(fmt::format(R"("reserved_peak_bytes":{},)", 20 * kTwoTo20))));
  // Most is reserved and not allocated after operator 2: 20 less 4.
  EXPECT_THAT(found, HasSubstr(fmt::format(R"("unused":{{"bytes":{},"op":2,"reserved_bytes":{}}},)",
                                           16 * kTwoTo20, 20 * kTwoTo20)));
  EXPECT_THAT(found,
              HasSubstr(fmt::format(R"("top":[{{"op":3,"name":"b.forward.mm.default_3","delta_bytes":{}}},)"
                                    R"({{"op":1,"name":"a.forward.mm.default_1","delta_bytes":{}}}],)",
                                    4 * kTwoTo20, 3 * kTwoTo20)));
  EXPECT_THAT(found, HasSubstr(fmt::format(R"("modules":[{{"module":"a","ops":2,"delta_bytes":{}}},)"
                                           R"({{"module":"b","ops":2,"delta_bytes":{}}}],)",
                                           3 * kTwoTo20, 3 * kTwoTo20)));
  // Forward are operators 0 and 1, backward 2 and 3.
  EXPECT_THAT(found,
              HasSubstr(fmt::format(R"({{"name":"forward","first_op":0,"last_op":1,"ops":2,"delta_bytes":{},)"
                                    R"("peak":{{"allocated_bytes":{},"op":1}}}})",
                                    3 * kTwoTo20, 5 * kTwoTo20)));
  EXPECT_THAT(
      found, HasSubstr(fmt::format(R"({{"name":"backward","first_op":2,"last_op":3,"ops":2,"delta_bytes":{},)"
                                   R"("peak":{{"allocated_bytes":{},"op":3}}}})",
                                   3 * kTwoTo20, 8 * kTwoTo20)));
  EXPECT_THAT(asked(session, "operators", 0, R"({"part":1,"most":2})"),
              HasSubstr("part 1 of the file has no numbers"));
}

TEST(PartQuestions, OnlyOperatorsAreOperators) {
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(
      read_bytes(session, "[[1000, 2000], [[0,4096,0,0,0,0,0,0,0], [0,4096,0,0,0,0,0,0,0]]]").has_value());
  EXPECT_THAT(asked(session, "operators", 0, R"({"part":0,"most":1})"),
              HasSubstr("does not tell of operators"));
}

// One curve, of which a column has the highest and the lowest level.
TEST(PartQuestions, LevelsOfSeriesHaveTwoColumnsForEach) {
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(
      read_bytes(session, "[[1000, 2000], [[0,4096,0,0,0,0,0,0,0], [0,512,0,0,0,0,0,0,0]]]").has_value());
  const AnswerOf answer =
      asked_frame(session, question_frame(R"({"ask":"seriesLevels","args":{"part":0,"series":[0],)"
                                          R"("stretch":{"first":0,"width":1001,"count":1}}})"));
  EXPECT_EQ(answer.head,
            R"({"answer":{"levels":[{}]},"columns":[{"name":"levels.0.highest","type":"f64","count":1},)"
            R"({"name":"levels.0.lowest","type":"f64","count":1}]})");
  EXPECT_EQ(answer.column<double>(0, 2), (std::vector<double>{4096, 512}));
}

TEST(PartQuestions, AFleetIsTheTextOfItsFile) {
  std::ifstream input(tests::test_path("data/fleet/small.json"), std::ios::binary);
  std::string file((std::istreambuf_iterator<char>(input)), {});
  file.erase(file.find_last_not_of('\n') + 1);
  Session session(int64_t{1} << 28);
  ASSERT_TRUE(read_bytes(session, file).has_value());
  const AnswerOf answer = asked_frame(session, question_frame(R"({"ask":"fleet","args":{"fleet":0}})"));
  ColumnsInOrder columns(answer);
  const auto text = columns.next<uint8_t>(file.size());
  ASSERT_TRUE(columns.are_all_read());
  EXPECT_EQ(std::string(text.begin(), text.end()), file);
  EXPECT_THAT(asked(session, "contents"), HasSubstr(R"("series":0,"fleets":1,"is_trace":false)"));
  EXPECT_THAT(asked(session, "fleet", 0, R"({"fleet":1})"), HasSubstr("there is no fleet 1 in this file"));
}

}  // namespace
}  // namespace gpustrata::session
