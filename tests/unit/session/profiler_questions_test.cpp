// Questions about profilers' files: numbers over time on a grid, the op table, and what lights an op's blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/session/asking.h"

namespace gpustrata::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kCategories = 8;
using Levels = std::vector<double>;

class ProfilerQuestions : public ::testing::Test {
 protected:
  void read(std::string_view text) { ASSERT_TRUE(read_bytes(session, text).has_value()); }

  [[nodiscard]] AnswerOf answer(std::string_view name, std::string_view args) {
    std::string head = R"({"ask":")" + std::string(name) + R"(","args":)" + std::string(args) + "}";
    return asked_frame(session, question_frame(head));
  }
  // The n-th column of doubles.
  [[nodiscard]] static Levels column(const AnswerOf& answer, size_t n, size_t count) {
    return answer.column<double>(n * count * sizeof(double), count);
  }

  Session session{int64_t{1} << 28};
};

// A parameter is there, an activation and a gradient come, the activation dies.
constexpr std::string_view kPlotted =
    "[[1000, 1000, 2000, 3000], [[0,4096,0,0,0,0,0,0,0], [0,4096,0,0,0,8192,0,0,0],"
    "[0,4096,0,0,0,8192,4096,0,0], [0,4096,0,0,0,0,4096,0,0]]]";
// The same as changes; in place of the last row but one the parameter is updated.
constexpr std::string_view kRaw =
    "[[-1, 1, 4096, 0], [1000500, 2, 8192, 4], [2000999, 2, 4096, 5], [3000000, 3, -4096, 0],"
    "[3000000, 3, 4096, 0], [3000400, 4, -8192, 4]]";

TEST_F(ProfilerQuestions, StackedCategoriesShowTheHighestMomentOfEachColumn) {
  read(kPlotted);
  const AnswerOf areas = answer(
      "seriesLevels", R"({"part":0,"series":[1,2,3,4,5,6,7,8],"stretch":{"first":0,"width":500,"count":5}})");
  constexpr size_t kParameter = 0, kActivation = 8, kGradient = 10;  // a highest and a lowest of each
  EXPECT_THAT(column(areas, kParameter, 5), ElementsAre(4096, 4096, 4096, 4096, 4096));
  EXPECT_THAT(column(areas, kActivation, 5), ElementsAre(8192, 8192, 8192, 8192, 0));
  EXPECT_THAT(column(areas, kGradient, 5), ElementsAre(0, 0, 4096, 4096, 4096));
  const AnswerOf total =
      answer("seriesLevels", R"({"part":0,"series":[0],"stretch":{"first":0,"width":2001,"count":1}})");
  EXPECT_THAT(column(total, 0, 1), ElementsAre(16384));
  EXPECT_THAT(column(total, 1, 1), ElementsAre(4096));
  EXPECT_EQ(areas.columns.size(), kCategories * 2 * 5 * sizeof(double));
}

TEST_F(ProfilerQuestions, ColumnsBeforeTheFirstPointAndBehindTheLastAreEmpty) {
  read(kPlotted);
  const AnswerOf areas =
      answer("seriesLevels",
             R"({"part":0,"series":[1,2,3,4,5,6,7,8],"stretch":{"first":-1,"width":2001,"count":3}})");
  const Levels parameter = column(areas, 0, 3);
  EXPECT_NE(parameter[0], parameter[0]);  // NaN
  EXPECT_EQ(parameter[1], 4096);
  EXPECT_NE(parameter[2], parameter[2]);
}

TEST_F(ProfilerQuestions, ChangesGiveTheSameStacks) {
  read(kRaw);
  // 1000.5, 2000.999, 3000 and 3000.4 us: 0, 1000, 1999 and 1999 us after the first.
  const AnswerOf areas =
      answer("seriesLevels",
             R"({"part":0,"series":[1,2,3,4,5,6,7,8],"stretch":{"first":0,"width":1000,"count":2}})");
  EXPECT_THAT(column(areas, 0, 2), ElementsAre(4096, 4096));
  EXPECT_THAT(column(areas, 8, 2), ElementsAre(8192, 8192));
  EXPECT_THAT(column(areas, 10, 2), ElementsAre(0, 4096));
  const std::string head = asked(session, "seriesMoment", 0, R"({"part":0,"column":1,"width":1000})");
  EXPECT_THAT(head, HasSubstr(R"("position":1000,"time_us":2000)"));
  EXPECT_THAT(head, HasSubstr(R"("label":"GRADIENT","note":"CREATE")"));
}

TEST_F(ProfilerQuestions, PartsTellChartsMarksAndThePeak) {
  read(kPlotted);
  const std::string parts = asked(session, "series");
  EXPECT_THAT(
      parts,
      HasSubstr(
          R"("of":"categories","has_clock":true,"extent":2001,"first_step":0,"first_us":1000,"last_us":3000)"));
  EXPECT_THAT(
      parts,
      HasSubstr(
          R"({"series":0,"name":"total","device":null,"points":4,"highest":16384,"lowest":4096,"chart":0})"));
  EXPECT_THAT(parts, HasSubstr(R"("peak":{"bytes":16384,"time_us":2000,"categories":{"PARAMETER":4096,)"));
  EXPECT_THAT(asked(session, "contents"), HasSubstr(R"("series":1,"fleets":0,"is_trace":false)"));
}

constexpr std::string_view kTelemetry =
    R"([{"schema_version":2,"timestamp_ns":1000000000,"event_type":"sample","collector":"gpumemprof.cuda_tracker","device_id":0,
"allocator_allocated_bytes":100,"allocator_reserved_bytes":400,"device_used_bytes":400,"device_total_bytes":24000},
{"schema_version":2,"timestamp_ns":2000000000,"event_type":"warning","context":"Large allocation","collector":"gpumemprof.cuda_tracker",
"device_id":0,"allocator_allocated_bytes":300,"allocator_reserved_bytes":400,"device_used_bytes":400,"device_total_bytes":24000},
{"schema_version":2,"timestamp_ns":3000000000,"event_type":"sample","collector":"gpumemprof.cuda_tracker","device_id":0,
"allocator_allocated_bytes":150,"allocator_reserved_bytes":400,"device_used_bytes":400,"device_total_bytes":24000}])";

TEST_F(ProfilerQuestions, CurvesAreTheExtremesOfTheirColumns) {
  read(kTelemetry);
  const AnswerOf curves =
      answer("seriesLevels", R"({"part":0,"series":[0,1],"stretch":{"first":0,"width":1500000,"count":2}})");
  // Columns [0 s, 1.5 s): 100, then 300; [1.5 s, 3 s): 300, and 150 from 2 s on.
  EXPECT_THAT(column(curves, 0, 2), ElementsAre(300, 300));
  EXPECT_THAT(column(curves, 1, 2), ElementsAre(100, 150));
  EXPECT_THAT(column(curves, 2, 2), ElementsAre(400, 400));
  EXPECT_THAT(asked(session, "seriesLevels", 0,
                    R"({"part":0,"series":[99],"stretch":{"first":0,"width":1,"count":1}})"),
              HasSubstr("there is no series 99"));
  EXPECT_THAT(asked(session, "seriesLevels", 0,
                    R"({"part":7,"series":[],"stretch":{"first":0,"width":1,"count":1}})"),
              HasSubstr("part 7 of the file has no numbers over time"));
}

TEST_F(ProfilerQuestions, WhatIsFarHigherHasAChartOfItsOwnAndAlertsAreMarked) {
  read(kTelemetry);
  const std::string parts = asked(session, "series");
  EXPECT_THAT(
      parts,
      HasSubstr(R"("name":"device_total","device":0,"points":3,"highest":24000,"lowest":24000,"chart":0})"));
  EXPECT_THAT(parts,
              HasSubstr(R"("name":"allocated","device":0,"points":3,"highest":300,"lowest":100,"chart":1})"));
  EXPECT_THAT(parts,
              HasSubstr(R"("name":"reserved","device":0,"points":3,"highest":400,"lowest":400,"chart":1})"));
  EXPECT_THAT(
      parts,
      HasSubstr(R"("marks":[{"position":1000000,"device":0,"name":"warning","note":"Large allocation"}])"));
  EXPECT_THAT(asked(session, "telemetry"), HasSubstr(R"("peak_allocated_bytes":300)"));
}

TEST_F(ProfilerQuestions, CallsHaveTheirLevels) {
  read(R"({"metadata":{"num_results":1},"snapshots":[],"results":[{"function_name":"f","execution_time":0.5,
"memory_before":{"timestamp":10.0,"allocated_memory":100,"reserved_memory":200,"device_id":0},
"memory_after":{"timestamp":10.5,"allocated_memory":140,"reserved_memory":200,"device_id":0},
"memory_peak":{"timestamp":10.5,"allocated_memory":180,"reserved_memory":200,"device_id":0},
"memory_allocated":40,"memory_freed":0,"memory_diff":40,"peak_memory_usage":180,"call_count":1}]})");
  const std::string calls = asked(session, "calls", 0, R"({"part":0,"first":0,"count":10})");
  EXPECT_THAT(calls, HasSubstr(R"("function":"f","device":0,"position":0,)"));
  EXPECT_THAT(calls, HasSubstr(R"("before":100,"peak":180,"after":140,"net":40,"seconds":0.5)"));
  EXPECT_THAT(asked(session, "calls", 0, R"({"part":0,"first":1,"count":10})"), HasSubstr(R"("answer":[])"));
}

// One thread: train 0-100 us holds linear 10-40 (empty 12-14, addmm 15-35) and relu 50-60; 100,352 bytes were there before.
[[nodiscard]] std::string trace() {
  std::string events;
  const auto op = [&](std::string_view name, int start, int duration) {
    events += R"({"ph":"X","cat":"cpu_op","name":")" + std::string(name) + R"(","pid":1,"tid":100,"ts":)" +
              std::to_string(start) + R"(,"dur":)" + std::to_string(duration) + "},\n";
  };
  op("train", 0, 100);
  op("aten::linear", 10, 30);
  op("aten::empty", 12, 2);
  op("aten::addmm", 15, 20);
  op("aten::relu", 50, 10);
  int64_t level = 100352;
  const auto record = [&](int time, int64_t bytes, int address) {
    level += bytes;
    events += R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":100,"ts":)" +
              std::to_string(time) + R"(,"args":{"Total Allocated":)" + std::to_string(level) +
              R"(,"Total Reserved":2097152,"Bytes":)" + std::to_string(bytes) + R"(,"Addr":)" +
              std::to_string(address) + R"(,"Device Id":0,"Device Type":1}},)" + "\n";
  };
  record(13, 4096, 0x1000);
  record(20, 8192, 0x2000);
  record(30, -8192, 0x2000);
  record(38, -2048, 0x9000);
  record(52, 6144, 0x3000);
  record(70, -4096, 0x1000);
  return R"({"schemaVersion":1,"traceEvents":[)" + events +
         R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":200}]})";
}

class OpQuestions : public ProfilerQuestions {
 protected:
  void SetUp() override {
    read(trace());
    view = session.open_view(0, 0, Bands::blocks).value_or(0);
    ASSERT_GT(view, 0);
  }
  [[nodiscard]] std::string ops(std::string_view rest) {
    return asked(session, "ops", view, R"({"scope":"thread",)" + std::string(rest) + "}");
  }
  ViewId view = 0;
};

TEST_F(OpQuestions, TheTableSaysWhatEachOpDidAndAddsUp) {
  const std::string lines = ops(R"("by":"op","sort":"at_peak","tree":false,"open":[],"first":0,"count":100)");
  EXPECT_THAT(
      lines,
      HasSubstr(
          R"("base_bytes":100352,"peak_bytes":112640,"net_bytes":4096,"unowned_bytes":0,"end_bytes":104448)"));
  EXPECT_THAT(
      lines,
      HasSubstr(
          R"("name":"aten::addmm","detail":"","calls":1,"net":0,"self":0,"gross":8192,"peak":8192,"abs_peak":112640,"at_peak":8192,"freed":8192,"at_return":0,"why":null,"filter":"op:\"aten::addmm\"")"));
  EXPECT_THAT(
      lines,
      HasSubstr(
          R"("self":-4096,"gross":18432,"peak":12288,"abs_peak":112640,"at_peak":12288,"freed":14336,"at_return":6144,"why":"4.0 KiB freed here were allocated by aten::empty.")"));
  EXPECT_THAT(lines,
              HasSubstr(R"("why":"2.0 KiB freed here were allocated before the trace or outside of ops.")"));
}

TEST_F(OpQuestions, AWindowOfTheTableHasItsLines) {
  const std::string lines = ops(R"("by":"op","sort":"peak","tree":false,"open":[],"first":2,"count":1)");
  EXPECT_THAT(lines, HasSubstr(R"("count":5,"lines":[{)"));
  EXPECT_THAT(lines, HasSubstr("aten::addmm"));  // behind train and linear
  EXPECT_THAT(lines, Not(HasSubstr("aten::relu")));
}

TEST_F(OpQuestions, TheTreeShowsWhatIsInsideOfWhatIsOpen) {
  const auto tree = [&](std::string_view open) {
    return ops(R"("by":"path","sort":"at_peak","tree":true,"open":)" + std::string(open) +
               R"(,"first":0,"count":100)");
  };
  const std::string closed = tree("[]");
  EXPECT_THAT(closed, HasSubstr(R"("count":1,"lines":[{"row":0,"depth":0,"inside":2,"name":"train")"));
  const std::string open = tree("[0,99,-0]");
  EXPECT_THAT(open, HasSubstr(R"("count":3,)"));
  const size_t linear = open.find(R"("row":1,"depth":1,"inside":2,"name":"aten::linear")");
  const size_t relu = open.find(R"("row":4,"depth":1,"inside":0,"name":"aten::relu")");
  EXPECT_LT(linear, relu);  // 12,288 bytes at the peak before none
  EXPECT_NE(relu, std::string::npos);
  EXPECT_THAT(tree("[0,1]"), HasSubstr(R"("depth":2,"inside":0,"name":"aten::addmm")"));
  EXPECT_THAT(ops(R"("by":"op","sort":"peak","tree":true,"open":[],"first":0,"count":1)"),
              HasSubstr("only paths of ops are a tree"));
}

TEST_F(OpQuestions, ThreadsTellTheirRows) {
  EXPECT_THAT(asked(session, "laneThreads", view),
              HasSubstr(R"("process":"1","id":"100","name":null,"spans":5,"records":6,"rows":3,"deeper":0)"));
}

// Rows: train; linear, relu; empty, addmm. The axis of times begins at 13 us. A column of 4 us: empty [12, 14) and addmm
// [15, 35) begin in the column [-3, 1) - [1, 5): apart.
TEST_F(OpQuestions, LanesShowOpsOfColumns) {
  const auto lanes = [&](std::string_view rest) {
    const std::string head =
        R"({"ask":"lanes","view":)" + std::to_string(view) + R"(,"args":{)" + std::string(rest) + "}}";
    return asked_frame(session, question_frame(head));
  };
  const AnswerOf answer = lanes(
      R"("axis":"time","from":-13,"step":1,"columns":100,"threads":[0,0],"rows":[1,2],"search":"op:\"aten::addmm\"","leastForName":5)");
  EXPECT_THAT(answer.head, HasSubstr(R"("names":["aten::linear","aten::relu","aten::addmm"])"));
  const auto i32 = [&](size_t n) { return answer.column<int32_t>(n * 16, 4); };  // four entries each
  EXPECT_THAT(i32(0), ElementsAre(0, 0, 1, 1));                                  // lane
  EXPECT_THAT(i32(1), ElementsAre(1, 4, 2, 3));                                  // span
  EXPECT_THAT(i32(2), ElementsAre(1, 1, 1, 1));                                  // count
  EXPECT_THAT(i32(3), ElementsAre(0, 1, -1, 2));  // name: empty is 2 columns wide
  EXPECT_THAT(i32(4), ElementsAre(1, 0, 0, 1));   // lit: addmm allocated it, linear called addmm
  const auto f64 = [&](size_t n) { return answer.column<double>(5 * 16 + 8 + n * 32, 4); };
  EXPECT_THAT(f64(0), ElementsAre(-3, 37, -1, 2));
  EXPECT_THAT(f64(1), ElementsAre(27, 47, 1, 22));
  // In one column of 100 us.
  const AnswerOf whole = lanes(
      R"("axis":"time","from":-13,"step":100,"columns":1,"threads":[0],"rows":[2],"search":"","leastForName":0)");
  EXPECT_THAT(whole.column<int32_t>(16, 1), ElementsAre(2));
  EXPECT_THAT(
      lanes(
          R"("axis":"time","from":0,"step":1,"columns":1,"threads":[7],"rows":[0],"search":"","leastForName":0)")
          .head,
      HasSubstr("there is no thread 7"));
  EXPECT_THAT(
      lanes(
          R"("axis":"time","from":0,"step":1,"columns":1,"threads":[0],"rows":[3],"search":"","leastForName":0)")
          .head,
      HasSubstr("thread 0 has no row 3"));
  EXPECT_THAT(
      lanes(
          R"("axis":"time","from":0,"step":1,"columns":1,"threads":[0],"rows":[],"search":"","leastForName":0)")
          .head,
      HasSubstr("must have the same length"));
}

// linear [10, 40): +4096, +8192, -8192, -2048 of its thread: net 2048, at worst 12288. Events 0 to 3 of the six.
TEST_F(OpQuestions, AnOpInFull) {
  const std::string span = asked(session, "span", view, R"({"span":1})");
  EXPECT_THAT(
      span,
      HasSubstr(R"("name":"aten::linear","category":"cpu_op","kind":"op","process":"1","thread":"100")"));
  EXPECT_THAT(
      span,
      HasSubstr(R"("start_us":-3.0,"duration_us":30.0,"from_event":0,"to_event":4,"allocs":2,"frees":2,)"
                R"("net":2048,"gross":12288,"peak":12288,"around":["train"])"));
  EXPECT_THAT(span, HasSubstr(R"("filter":"born:0..3 op:\"aten::linear\"")"));
  EXPECT_THAT(asked(session, "span", view, R"({"span":5})"), HasSubstr("there is no span 5"));
}

// 20 us of the trace are 7 us of the axis: addmm [15, 35) in linear in train. Nothing runs at 200 us, nor before 0.
TEST_F(OpQuestions, WhatRanAtATime) {
  EXPECT_THAT(
      asked(session, "opsAt", view, R"({"time":7})"),
      HasSubstr(
          R"([{"process":"1","thread":"100","thread_name":null,"span":3,"lane":{"thread":0,"row":2},"ops":["aten::addmm","aten::linear","train"],"module":null}])"));
  EXPECT_THAT(asked(session, "opsAt", view, R"({"time":1.5})"),
              HasSubstr(R"("ops":["aten::linear","train"])"));
  EXPECT_THAT(asked(session, "opsAt", view, R"({"time":187})"), HasSubstr(R"("answer":[])"));
  EXPECT_THAT(asked(session, "opsAt", view, R"({"time":-14})"), HasSubstr(R"("answer":[])"));
}

TEST_F(OpQuestions, AnOpIsMeantByItsWholeName) {
  const auto blocks = [&](std::string_view text) {
    return asked(session, "filter", view, R"({"text":")" + std::string(text) + "\"}");
  };
  EXPECT_THAT(blocks("op:aten::addmm"), HasSubstr(R"("count":1,"bytes":8192)"));
  EXPECT_THAT(blocks("op:aten::add"), HasSubstr(R"("count":0,)"));
  EXPECT_THAT(blocks("stack:aten::add"), HasSubstr(R"("count":1,)"));
  EXPECT_THAT(blocks("op:ATEN::ADDMM"), HasSubstr(R"("count":0,)"));
  EXPECT_THAT(blocks("op:aten::relu op:train"), HasSubstr(R"("count":1,"bytes":6144)"));
}

TEST_F(OpQuestions, PyTorchsOwnTable) {
  const std::string lines =
      asked(session, "profilerTable", view, R"({"shapes":false,"sort":"net","first":0,"count":100})");
  EXPECT_THAT(lines, HasSubstr(R"("shows_devices":true,"count":5)"));
  EXPECT_THAT(
      lines,
      HasSubstr(
          R"("name":"aten::linear","detail":"","calls":1,"cpu":0,"self_cpu":0,"device":2048,"self_device":-2048)"));
}

}  // namespace
}  // namespace gpustrata::session
