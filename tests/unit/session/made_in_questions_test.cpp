// A snapshot and a trace of one run, a session each: what the trace's tells of the snapshot's allocations, and what filters
// of the snapshot mean once its session was told. Times are microseconds since 1970.
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

// train [0, 100) calls linear [10, 40), which calls empty [12, 14) and addmm [15, 35); then relu [50, 60). The trace has its
// own records of two allocations.
constexpr std::string_view kTrace =
    R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"train","pid":1,"tid":100,"ts":0,"dur":100},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":100,"ts":10,"dur":30},
{"ph":"X","cat":"cpu_op","name":"aten::empty","pid":1,"tid":100,"ts":12,"dur":2},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":1,"tid":100,"ts":15,"dur":20},
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":100,"ts":50,"dur":10},
{"ph":"i","name":"[memory]","pid":1,"tid":100,"ts":13,"args":{"Bytes":4096,"Addr":4096,"Device Id":0,"Device Type":1}},
{"ph":"i","name":"[memory]","pid":1,"tid":100,"ts":52,"args":{"Bytes":4096,"Addr":12288,"Device Id":0,"Device Type":1}}]})";
// 1, 2, 4, 8, 16 MiB; a free between them.
constexpr std::string_view kSnapshot =
    R"({"segments":[],"device_traces":[[
{"action":"alloc","addr":65536,"size":1048576,"stream":0,"time_us":5,"frames":[]},
{"action":"alloc","addr":4096,"size":2097152,"stream":0,"time_us":13,"frames":[]},
{"action":"free_requested","addr":65536,"size":1048576,"stream":0,"time_us":14,"frames":[]},
{"action":"free_completed","addr":65536,"size":1048576,"stream":0,"time_us":14,"frames":[]},
{"action":"alloc","addr":28672,"size":4194304,"stream":0,"time_us":20,"frames":[]},
{"action":"alloc","addr":12288,"size":8388608,"stream":0,"time_us":60,"frames":[]},
{"action":"alloc","addr":65536,"size":16777216,"stream":0,"time_us":300,"frames":[]}]]})";

class MadeInQuestions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(read_bytes(trace, kTrace).has_value());
    ASSERT_TRUE(read_bytes(snapshot, kSnapshot).has_value());
    of_trace = trace.open_view(0, 0, Bands::blocks).value_or(0);
    of_snapshot = snapshot.open_view(0, 0, Bands::blocks).value_or(0);
    ASSERT_GT(of_trace, 0);
    ASSERT_GT(of_snapshot, 0);
  }
  [[nodiscard]] static AnswerOf answer(Session& session, std::string_view name, ViewId view,
                                       std::string_view args) {
    return asked_frame(
        session, question_frame(R"({"ask":")" + std::string(name) + R"(","view":)" + std::to_string(view) +
                                R"(,"args":)" + std::string(args) + "}"));
  }
  [[nodiscard]] std::string blocks(std::string_view text) {
    return asked(snapshot, "filter", of_snapshot, R"({"text":")" + std::string(text) + "\"}");
  }
  [[nodiscard]] std::string tell(std::string_view rest) {
    return asked(snapshot, "tellMadeIn", of_snapshot, R"({"anew":true,)" + std::string(rest) + "}");
  }

  Session trace{int64_t{1} << 28}, snapshot{int64_t{1} << 28};
  ViewId of_trace = 0, of_snapshot = 0;
};

constexpr std::string_view kNodes =
    R"("parents":[-1,0,1,1,0],"names":["train","aten::linear","aten::empty","aten::addmm","aten::relu"],"ops":[1,1,1,1,1],)";

TEST_F(MadeInQuestions, ASnapshotTellsItsAllocations) {
  const AnswerOf all = answer(snapshot, "allocations", of_snapshot, R"({"from":0})");
  EXPECT_THAT(all.head, HasSubstr(R"("next":7)"));
  EXPECT_THAT(all.column<int32_t>(0, 5), ElementsAre(0, 1, 4, 5, 6));
  EXPECT_THAT(all.column<double>(24, 5), ElementsAre(5, 13, 20, 60, 300));
  EXPECT_THAT(all.column<double>(64, 5), ElementsAre(65536, 4096, 28672, 12288, 65536));
  EXPECT_THAT(answer(snapshot, "allocations", of_snapshot, R"({"from":5})").column<int32_t>(0, 2),
              ElementsAre(5, 6));
}

// The one of 60 us is of the trace's record at 52 us, in relu, which is over at 60.
TEST_F(MadeInQuestions, ATraceTellsTheOpsOfAllocations) {
  const AnswerOf ops =
      answer(trace, "opsOf", of_trace,
             R"({"device":0,"times":[5,13,20,60,300,60],"addresses":[65536,4096,28672,12288,65536,-1]})");
  EXPECT_THAT(ops.column<int32_t>(0, 6), ElementsAre(0, 2, 3, 4, -3, 0));
  // Of another device times alone count.
  EXPECT_THAT(answer(trace, "opsOf", of_trace, R"({"device":1,"times":[60],"addresses":[12288]})")
                  .column<int32_t>(0, 1),
              ElementsAre(0));
  EXPECT_THAT(answer(trace, "opsOf", of_trace, R"({"device":0,"times":[1e18,-1e18],"addresses":[1,1]})")
                  .column<int32_t>(0, 2),
              ElementsAre(-3, -3));
  const AnswerOf paths = answer(trace, "opPaths", of_trace, R"({"nodes":[0,1,2,3,4]})");
  EXPECT_THAT(paths.head,
              HasSubstr(R"("names":["train","aten::linear","aten::empty","aten::addmm","aten::relu"])"));
  EXPECT_THAT(paths.column<int32_t>(0, 5), ElementsAre(-1, 0, 1, 1, 0));
  EXPECT_THAT(paths.column<uint8_t>(24, 5), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(asked(trace, "opPaths", of_trace, R"({"nodes":[5]})"), HasSubstr("there is no node 5"));
  EXPECT_THAT(asked(trace, "opsOf", of_trace, R"({"device":0,"times":[1],"addresses":[]})"),
              HasSubstr("same length"));
}

TEST_F(MadeInQuestions, FiltersMeanWhatWasTold) {
  EXPECT_THAT(blocks(R"(op:\"aten::linear\")"), HasSubstr(R"("count":0)"));
  EXPECT_THAT(tell(std::string(kNodes) + R"("events":[0,1,4,5],"nodes":[0,2,3,4])"), HasSubstr("4"));
  EXPECT_THAT(blocks(R"(op:\"aten::linear\")"), HasSubstr(R"("count":2,"bytes":6291456)"));
  EXPECT_THAT(blocks(R"(op:\"train\")"), HasSubstr(R"("count":4,"bytes":15728640)"));
  EXPECT_THAT(blocks(R"(op:\"aten::lin\")"), HasSubstr(R"("count":0)"));
  EXPECT_THAT(blocks("stack:ATEN::LIN"), HasSubstr(R"("count":2)"));
  EXPECT_THAT(blocks("relu"), HasSubstr(R"("count":1,"bytes":8388608)"));
  EXPECT_THAT(blocks(R"(not op:\"train\")"), HasSubstr(R"("count":1,"bytes":16777216)"));
  EXPECT_THAT(asked(snapshot, "tellMadeIn", of_snapshot,
                    R"({"anew":false,"parents":[],"names":[],"ops":[],"events":[],"nodes":[]})"),
              HasSubstr(R"("answer":4)"));
  // Told anew, as after a nudge.
  EXPECT_THAT(tell(std::string(kNodes) + R"("events":[6],"nodes":[1])"), HasSubstr("1"));
  EXPECT_THAT(blocks(R"(op:\"aten::linear\")"), HasSubstr(R"("count":1,"bytes":16777216)"));
}

TEST_F(MadeInQuestions, WhatOneClientTellsIsNothingToAnother) {
  Session other(snapshot);
  const ViewId of_other = other.open_view(0, 0, session::Bands::blocks).value_or(0);
  const auto blocks_of_other = [&] { return asked(other, "filter", of_other, R"({"text":"op:\"train\""})"); };
  EXPECT_THAT(tell(std::string(kNodes) + R"("events":[0,1,4,5],"nodes":[0,2,3,4])"), HasSubstr("4"));
  EXPECT_THAT(blocks(R"(op:\"train\")"), HasSubstr(R"("count":4)"));
  EXPECT_THAT(blocks_of_other(), HasSubstr(R"("count":0)"));
  // Nor what was told before the other one came.
  Session third(snapshot);
  const ViewId of_third = third.open_view(0, 0, session::Bands::blocks).value_or(0);
  EXPECT_THAT(asked(third, "filter", of_third, R"({"text":"op:\"train\""})"), HasSubstr(R"("count":0)"));
  // A view that is opened later means it, too.
  const ViewId later = snapshot.open_view(0, 0, session::Bands::segments).value_or(0);
  EXPECT_THAT(asked(snapshot, "tellMadeIn", later,
                    R"({"anew":false,"parents":[],"names":[],"ops":[],"events":[],"nodes":[]})"),
              HasSubstr(R"("answer":4)"));
}

TEST_F(MadeInQuestions, WhatIsWrongIsRefusedAndForgotten) {
  EXPECT_THAT(tell(std::string(kNodes) + R"("events":[0],"nodes":[5])"), HasSubstr("there is no such node"));
  EXPECT_THAT(tell(std::string(kNodes) + R"("events":[7],"nodes":[0])"), HasSubstr("an event of the device"));
  EXPECT_THAT(tell(R"("parents":[0],"names":["a"],"ops":[1],"events":[],"nodes":[])"),
              HasSubstr("behind its parent"));
  EXPECT_THAT(tell(R"("parents":[],"names":["a"],"ops":[1],"events":[],"nodes":[])"),
              HasSubstr("same length"));
  EXPECT_THAT(blocks(R"(op:\"train\")"), HasSubstr(R"("count":0)"));
  EXPECT_THAT(asked(snapshot, "opsOf", of_snapshot, R"({"device":0,"times":[],"addresses":[]})"),
              HasSubstr("no profiler's trace"));
}

// A block's op by the trace's record of it; without that what ran, and where its lane is.
TEST_F(MadeInQuestions, OpsOfOneBlock) {
  const auto at = [&](std::string_view args) { return asked(trace, "opsAt", of_trace, args); };
  EXPECT_THAT(at(R"({"time":47,"device":0,"address":12288})"),
              HasSubstr(R"("span":4,"lane":{"thread":0,"row":1},"ops":["aten::relu","train"])"));
  EXPECT_THAT(at(R"({"time":47})"), HasSubstr(R"("span":0,"lane":{"thread":0,"row":0},"ops":["train"])"));
}

}  // namespace
}  // namespace gpustrata::session
