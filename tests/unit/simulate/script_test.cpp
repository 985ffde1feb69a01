#include "engine/simulate/script.h"

#include <gtest/gtest.h>

#include "engine/answers/what_if/simulation_report.h"

namespace gpustrata::simulate {
namespace {

// The error of running a script on 1 GiB, or "".
Error error_of(std::string_view script, std::string_view conf = "") {
  Budget budget(int64_t{1} << 28);
  const auto json = answers::simulate_json(script, 1 << 30, conf, budget);
  return json ? Error{ErrorCode::internal, "", -1} : json.error();
}

TEST(Script, StepsStandOnLinesOrBetweenSemicolons) {
  Budget budget(1 << 20);
  model::Recording recording(budget);
  const auto script = read_script("m a 1 2; f a  # done; not a step\n\n ;; conf a:1, b:[2]\n", recording);
  ASSERT_TRUE(script.has_value());
  const RequestLog& log = script->requests;
  ASSERT_EQ(log.size_rows(), 3U);
  EXPECT_EQ(log.size[0], 1);
  EXPECT_EQ(log.stream[0], 2);
  EXPECT_EQ(log.request[1], Request::free);
  EXPECT_EQ(log.subject[1], 0);
  EXPECT_EQ(script->step(1), "f a");
  EXPECT_EQ(script->places[2].line, 3);
  EXPECT_EQ(recording.strings.view(log.text[2]), "a:1, b:[2]");
  EXPECT_TRUE(log.stack[0].is_none());
}

TEST(Script, TheOrderOfFreeBlocksStandsBeforeTheFirstRequest) {
  EXPECT_EQ(error_of("order segment_age; m a 1").message, "");
  EXPECT_EQ(error_of("order size").message,
            "line 1: 'order size' should be: order address|block_number|segment_age");
  EXPECT_EQ(error_of("m a 1\norder address").message,
            "line 2: the order of free blocks can only be chosen before the first request");
}

TEST(Script, WithTheNameOfItsFileStepsAreFrames) {
  Budget budget(1 << 20);
  model::Recording recording(budget);
  const auto script = read_script("snap\nm a 1 2", recording, "run.txt");
  ASSERT_TRUE(script.has_value());
  const auto frames = recording.stacks.frames_of(script->requests.stack[1]);
  ASSERT_EQ(frames.size(), 1U);
  const trace::Frame& frame = recording.frames[frames[0]];
  EXPECT_EQ(recording.strings.view(frame.name), "m a 1 2");
  EXPECT_EQ(recording.strings.view(frame.filename), "run.txt");
  EXPECT_EQ(frame.line, 2);
}

TEST(Script, WrongStepsNameTheirLine) {
  const struct {
    const char* script;
    const char* message;
    int64_t offset;
  } kCases[] = {
      {"m a 1\nq a", "line 2: there is no step 'q'", 6},
      {"m a", "line 1: 'm a' should be: m ID SIZE [STREAM]", 0},
      {"m a -1", "line 1: 'm a -1' should be", 0},
      {"m a 9223372036854775808", "line 1: ", 0},
      {"m a 1 2 3", "line 1: ", 0},
      {"m a 1; m a 1", "line 1: 'a' is still allocated", 7},
      {"\n\n f b", "line 3: 'b' is not allocated", 3},
      {"m a 1; f a; f a", "line 1: 'a' is not allocated", 12},
      {"fraction 1.5", "line 1: the memory fraction must be from 0 to 1", 0},
      {"fraction x", "line 1: ", 0},
      {"conf nothing:1", "line 1: allocator settings: unknown key 'nothing'", 0},
      {"begin 0 0", "line 1: (0, 0) is the default pool", 0},
      {"begin 0 1; begin 0 1", "line 1: requests go to pool (0, 1) already", 11},
      {"end 0 1", "line 1: requests do not go to pool (0, 1)", 0},
      {"release 0 1", "line 1: there is no pool (0, 1)", 0},
      {"begin 0 1; end 0 1; m a 1; release 0 1; begin 0 1; m b 1; end 0 1; release 0 1; begin 0 1",
       "line 1: pool (0, 1) was released", 40},
      {"empty 1", "line 1: 'empty 1' should be: empty [A B]", 0},
  };
  for (const auto& one : kCases) {
    const Error error = error_of(one.script);
    EXPECT_EQ(error.message.substr(0, std::string_view(one.message).size()), one.message) << one.script;
    EXPECT_EQ(error.offset, one.offset) << one.script;
    EXPECT_EQ(error.code, ErrorCode::wrong_usage) << one.script;
  }
}

TEST(Script, AnEmptyRequestIsNotSeenByTheAllocator) {
  Budget budget(int64_t{1} << 28);
  const auto json = answers::simulate_json("m a 0; f a", 1 << 30, "", budget);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->substr(0, 12), "{\"trace\":[],");
}

TEST(Script, AHugeRequestIsOutOfMemory) {
  Budget budget(int64_t{1} << 28);
  for (const char* conf :
       {"", "expandable_segments:True", "roundup_power2_divisions:4", "max_split_size_mb:40"}) {
    const auto json = answers::simulate_json(
        "m a 9223372036854775807; m b 1152921504606846977; m c 1152921504606846975", 1 << 30, conf, budget);
    ASSERT_TRUE(json.has_value());
    EXPECT_NE(json->find("\"num_ooms\":3,"), std::string::npos) << conf;
  }
}

// 50 of 64 MiB are cached for a private pool: 40 fit in there alone.
TEST(Script, APoolThatHelpsOutAndNoLongerDoes) {
  Budget budget(int64_t{1} << 28);
  const std::string begin = "begin 0 1; m a 52428800; f a; end 0 1; useoom 0 1; ";
  const auto ooms = [&](const std::string& rest) {
    const auto json = answers::simulate_json(begin + rest, 64 << 20, "", budget);
    return json && json->find("\"num_ooms\":1,") != std::string::npos;
  };
  EXPECT_FALSE(ooms("m b 41943040"));
  EXPECT_TRUE(ooms("nouseoom 0 1; m b 41943040"));
}

TEST(Script, TheDeviceMustBeReasonable) {
  Budget budget(1 << 20);
  EXPECT_FALSE(answers::simulate_json("", 0, "", budget).has_value());
  EXPECT_FALSE(answers::simulate_json("", kLargestDevice + 1, "", budget).has_value());
  EXPECT_TRUE(answers::simulate_json("", kLargestDevice, "", budget).has_value());
  EXPECT_TRUE(answers::simulate_json("m a 1", 1, "", budget).has_value());  // out of memory, but an answer
}

TEST(Script, ARefusingBudgetIsAnError) {
  Budget budget(4096);
  std::string script;
  for (int i = 0; i < 1000; ++i) script += "m a" + std::to_string(i) + " 512\n";
  const auto json = answers::simulate_json(script, 1 << 30, "", budget);
  ASSERT_FALSE(json.has_value());
  EXPECT_EQ(json.error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace gpustrata::simulate
