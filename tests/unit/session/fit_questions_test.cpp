// What fits, told from two recordings with a session each, as a page does.
//
// The program: weights of 20 MiB, an activation of 12 MiB for each of the batch, its gradient of 16 MiB; nothing is freed, and every block
// has a segment of its own size. So peak requested and reserved are 20 + 28 batch MiB.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/session/asking.h"

namespace gpustrata::session {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

struct Line {
  std::string_view name;
  int64_t bytes;
};

[[nodiscard]] std::string recording(const std::vector<Line>& lines) {
  std::string events, segments;
  int64_t address = int64_t{1} << 32;
  int number = 0;
  for (const Line& line : lines) {
    const std::string at = fmt::format(
        R"("stream":0,"frames":[{{"name":"{}","filename":"train.py","line":{}}}])", line.name, ++number);
    for (const std::string_view action : {"segment_alloc", "alloc"})
      events += fmt::format(R"({}{{"action":"{}","addr":{},"size":{},{}}})", events.empty() ? "" : ",",
                            action, address, line.bytes, at);
    segments += fmt::format(
        R"({}{{"device":0,"address":{},"total_size":{},"allocated_size":{},"active_size":{},"stream":0,"segment_type":"large","blocks":[{{"address":{},"size":{},"requested_size":{},"state":"active_allocated"}}]}})",
        segments.empty() ? "" : ",", address, line.bytes, line.bytes, line.bytes, address, line.bytes,
        line.bytes);
    address += int64_t{1} << 30;
  }
  return fmt::format(R"({{"segments":[{}],"device_traces":[[{}]]}})", segments, events);
}

[[nodiscard]] std::string program(int64_t batch) {
  return recording(
      {{"weights", 20 * kMiB}, {"activate", 12 * kMiB * batch}, {"backward", 16 * kMiB * batch}});
}

// What the recording of batch 2 tells, whole; `rows` may be others.
[[nodiscard]] std::string told(
    std::string_view rows = R"("requests":[1,1,1],"sizes":[20971520,25165824,33554432],"streams":[0,0,0],)"
                            R"("subjects":[-1,-1,-1],"stacks":[0,1,2])") {
  return fmt::format(
      R"({{"about":{{"rows":3,"present":0,"peakReserved":79691776,"ooms":0,"firstOomEvent":-1,"exact":true,"atFailure":false,"isOpen":false,"isCut":false}},)"
      R"("texts":["weights","train.py","activate","backward"],"names":[0,2,3],"files":[1,1,1],"lines":[1,2,3],)"
      R"("frames":[0,1,2],"callers":[-1,-1,-1],"poolGraphs":[],"poolUsers":[],{}}})",
      rows);
}
constexpr std::string_view kNoMore =
    R"("texts":[],"names":[],"files":[],"lines":[],"frames":[],"callers":[],"poolGraphs":[],"poolUsers":[])";

class FitQuestions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(read_bytes(small, program(2)).has_value());
    ASSERT_TRUE(read_bytes(large, program(4)).has_value());
    of_small = small.open_view(0, 0, Bands::blocks).value_or(0);
    of_large = large.open_view(0, 0, Bands::blocks).value_or(0);
    ASSERT_GT(of_small, 0);
    ASSERT_GT(of_large, 0);
  }
  [[nodiscard]] std::string tell(const std::string& part, int other = 0, bool anew = true) {
    return asked(large, "tellRequests", of_large,
                 fmt::format(R"({{"other":{},"anew":{},"part":{}}})", other, anew, part));
  }
  [[nodiscard]] std::string fit(std::string_view more, int first = 2) {
    return asked(large, "fit", of_large,
                 fmt::format(R"({{"parameters":["batch"],"recordings":[{{"file":"b2","values":[{}]}},)"
                             R"({{"file":"b4","values":[4]}}],{}}})",
                             first, more));
  }

  Session small{int64_t{1} << 28}, large{int64_t{1} << 28};
  ViewId of_small = 0, of_large = 0;
};

constexpr std::string_view kAtNothing = R"("at":[],"largest":true,"capacity":209715200)";

TEST_F(FitQuestions, ARecordingTellsItsRequests) {
  const AnswerOf found = asked_frame(
      small, question_frame(fmt::format(R"({{"ask":"requests","view":{},"args":{{}}}})", of_small)));
  EXPECT_THAT(
      found.head,
      HasSubstr(R"("about":{"rows":3,"present":0,"peakReserved":79691776,"ooms":0,)"
                R"("firstOomEvent":-1,"exact":true,"atFailure":false,"isOpen":false,"isCut":false})"));
  EXPECT_THAT(found.head, HasSubstr(R"("texts":["weights","train.py","activate","backward"])"));
  // Names, files, lines, frames, callers: three numbers of 4 bytes, each column from a multiple of 8. No pools.
  EXPECT_THAT(found.column<int32_t>(0, 3), ElementsAre(0, 2, 3));
  EXPECT_THAT(found.column<int32_t>(16, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(found.column<int32_t>(32, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(found.column<int32_t>(48, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(found.column<int32_t>(64, 3), ElementsAre(-1, -1, -1));
  EXPECT_THAT(found.column<uint8_t>(80, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(found.column<double>(88, 3), ElementsAre(20 * kMiB, 24 * kMiB, 32 * kMiB));
}

// 200 MiB: 20 + 28 * 6 = 188 fit, at 7 they are 216, of which the last 112 cannot be had.
TEST_F(FitQuestions, WhatFitsIsToldFromBoth) {
  EXPECT_EQ(tell(told()), R"({"answer":3})");
  const std::string found =
      fit(R"("at":[{"values":[3]},{"values":[10]}],"largest":true,"capacity":209715200)");
  EXPECT_THAT(
      found,
      HasSubstr("\"answer\":\"batch 6 fits 200.0 MiB (6 with expandable_segments:True), and 7 does not."));
  EXPECT_THAT(found, HasSubstr(R"("largest":6,)"));
  EXPECT_THAT(found,
              HasSubstr(R"("next_failure":{"requested_bytes":117440512,"who":"backward train.py:3"})"));
  EXPECT_THAT(
      found,
      HasSubstr(fmt::format(
          R"("value":3,"values":{{"batch":3}},"times":[],"requested_peak_bytes":{0},"reserved_peak_bytes":{0})",
          104 * kMiB)));
  EXPECT_THAT(found,
              HasSubstr(fmt::format(R"("requested_peak_bytes":{0},"reserved_peak_bytes":{0})", 300 * kMiB)));
  EXPECT_THAT(found, HasSubstr(R"("exact":true,"requests":{"confirmed":3,)"));
  EXPECT_THAT(found, HasSubstr(R"({"file":"b2","values":{"batch":2},"requested_peak_bytes":79691776,)"
                               R"("reserved_peak_bytes":79691776,"exact":true,)"));
  // What the peak is made of at 10.
  EXPECT_THAT(found, HasSubstr(R"({"grows":"batch","who":"backward train.py:3","bytes":167772160,)"));
}

// What fails first is said, not what is asked for at the peak: on a device of 2 MiB the weights.
TEST_F(FitQuestions, WhatFailsIsTheFirstRequestThatDoesNotFit) {
  (void)tell(told());
  EXPECT_THAT(fit(R"("at":[],"largest":true,"capacity":2097152)"),
              AllOf(HasSubstr("Not even batch 1 fits 2.0 MiB"),
                    HasSubstr(R"("next_failure":{"requested_bytes":20971520,"who":"weights train.py:1"})")));
}

TEST_F(FitQuestions, TheLargestIsLookedForWhereItIsWanted) {
  (void)tell(told());
  EXPECT_THAT(fit(R"("at":[{"values":[7]}],"largest":false,"capacity":209715200)"),
              AllOf(HasSubstr(R"("largest_that_fits":null)"), HasSubstr(R"("fits":false)")));
}

TEST_F(FitQuestions, RequestsAreToldInParts) {
  const std::string all = told();
  const size_t rows = all.find(R"("requests":)");
  (void)tell(all.substr(0, rows) + R"("requests":[],"sizes":[],"streams":[],"subjects":[],"stacks":[]})");
  EXPECT_THAT(fit(kAtNothing), HasSubstr("the requests of b2 were not told, or not all of them"));
  const std::string about = all.substr(0, all.find(R"("texts":)"));
  const std::string first =
      fmt::format(R"({}{},"requests":[1],"sizes":[20971520],"streams":[0],"subjects":[-1],"stacks":[0]}})",
                  about, kNoMore);
  EXPECT_THAT(tell(first, 0, false), HasSubstr(R"("answer":1)"));
  const std::string others = fmt::format(
      R"({}{},"requests":[1,1],"sizes":[25165824,33554432],"streams":[0,0],"subjects":[-1,-1],"stacks":[1,2]}})",
      about, kNoMore);
  EXPECT_THAT(tell(others, 0, false), HasSubstr(R"("answer":3)"));
  EXPECT_THAT(fit(kAtNothing), HasSubstr(R"("largest":6,)"));
  // One row more than there are: nothing is told any more.
  EXPECT_THAT(tell(first, 0, false), HasSubstr("row 3 is one more than there are"));
  EXPECT_THAT(fit(kAtNothing), HasSubstr("were not told"));
}

TEST_F(FitQuestions, AnotherProgramIsRefusedWithTheFirstRequestThatDiffers) {
  std::string part = told();
  part.replace(part.find("activate"), 8, "evaluate");
  (void)tell(part);
  EXPECT_THAT(fit(kAtNothing), AllOf(HasSubstr("not of one program"), HasSubstr("evaluate"),
                                     HasSubstr("activate"), HasSubstr("batch=2")));
}

TEST_F(FitQuestions, WhatTheyDoNotTellApartIsRefused) {
  (void)tell(told());
  EXPECT_THAT(fit(kAtNothing, 4), HasSubstr("two recordings are of batch=4"));
  EXPECT_THAT(fit(kAtNothing, 5), HasSubstr("in the order of their parameters"));
  EXPECT_THAT(fit(kAtNothing, 0), HasSubstr("batch is 0: it must be a whole number from 1"));
  EXPECT_THAT(fit(R"("at":[{"values":[1,2]}],"largest":true)"),
              HasSubstr("2 values are given for 1 parameters"));
  EXPECT_THAT(fit(R"("at":[],"largest":true,"conf":"expandable_segments:x")"),
              HasSubstr(R"("inside":"conf")"));
  EXPECT_THAT(fit(R"("at":[],"largest":true,"capacity":9007199254740992)"),
              HasSubstr(R"("inside":"capacity")"));
  EXPECT_THAT(
      asked(large, "fit", of_large, R"({"parameters":["a","a"],"recordings":[],"at":[],"largest":true})"),
      HasSubstr("two parameters are called a"));
}

TEST_F(FitQuestions, RowsThatNoRecordingHasAreRefused) {
  const auto refused = [&](std::string_view requests, std::string_view subjects, std::string_view stacks) {
    return tell(
        told(fmt::format(R"("requests":{},"sizes":[1,1,1],"streams":[0,0,0],"subjects":{},"stacks":{})",
                         requests, subjects, stacks)));
  };
  EXPECT_THAT(refused("[1,2,2]", "[-1,0,0]", "[0,-1,-1]"),
              HasSubstr("row 2 is of a block that is not there"));
  EXPECT_THAT(refused("[1,2,1]", "[-1,1,-1]", "[0,-1,-1]"),
              HasSubstr("row 1 is of a block that is not there"));
  EXPECT_THAT(refused("[1,1,6]", "[-1,-1,-1]", "[0,0,0]"),
              HasSubstr("row 2 is a request that no recording has"));
  EXPECT_THAT(refused("[0,1,1]", "[-1,-1,-1]", "[0,0,0]"),
              HasSubstr("row 0 stands where such a request does not"));
  EXPECT_THAT(refused("[1,1,1]", "[-1,0,-1]", "[0,0,0]"), HasSubstr("row 1 is of a pool that is not there"));
  EXPECT_THAT(refused("[1,1,1]", "[-1,-1,-1]", "[0,0,3]"), HasSubstr("there is no node 3"));
  EXPECT_THAT(refused("[1,1]", "[-1,-1]", "[0,0]"), HasSubstr("must be of one length"));
  EXPECT_THAT(tell(told(), 16), HasSubstr("recording 16 is more than the 16 that can be fitted"));
  // Stacks that are empty, or not there, are no error.
  EXPECT_THAT(refused("[1,1,1]", "[-1,-1,-1]", "[-1,-2,2]"), Not(HasSubstr("error")));
}

}  // namespace
}  // namespace gpustrata::session
