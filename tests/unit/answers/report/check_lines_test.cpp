// What `gpustrata check` says of a rule: as a line, as JSON, as JUnit's XML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/answers/clients/served.h"
#include "engine/answers/report/check.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/answers/collected.h"

namespace gpustrata::answers {
namespace {

using analysis::CheckedRule;
using analysis::RuleKind;
using analysis::Undecided;

class LinesOfCheck : public testing::Test {
 protected:
  [[nodiscard]] std::string line(const CheckedRule& rule) const { return check_line(story.recording, rule); }
  [[nodiscard]] std::string json(const CheckedRule& rule) const { return json_of(story.recording, rule); }
  analysis::Story story;
};

TEST_F(LinesOfCheck, BytesAreOfAtMostTheLimit) {
  const StackId stack = story.stack({"forward"});
  EXPECT_EQ(
      line({RuleKind::max_peak, true, 4096, 2048, 1, 57, stack}),
      "ok      max_peak           device 1: 2.0 KiB (2,048 bytes) of at most 4.0 KiB, event 57, forward file.py:1");
  EXPECT_EQ(line({RuleKind::max_reserved, false, 1024, 2048, 0, 0, {}}),
            "broken  max_reserved       device 0: 2.0 KiB (2,048 bytes) of at most 1.0 KiB, event 0");
  EXPECT_EQ(
      line({RuleKind::max_reserved, false, 1024, std::nullopt, 0, -1, {}, Undecided::not_told}),
      "unknown max_reserved       device 0: this cannot be checked: the trace does not say what was reserved");
}

TEST_F(LinesOfCheck, NumbersAndShares) {
  EXPECT_EQ(line({RuleKind::no_oom, false, 0, 1200, 0, 5, {}}),
            "broken  no_oom             device 0: out of memory 1,200 times, event 5");
  EXPECT_EQ(line({RuleKind::no_leak, true, 0, 0, 0, -1, {}}),
            "ok      no_leak            device 0: 0 leaking stacks");
  EXPECT_EQ(line({RuleKind::max_fragmentation, false, 0.1, 0.25, 0, -1, {}}),
            "broken  max_fragmentation  device 0: 0.250 of at most 0.100 of what is reserved");
  EXPECT_EQ(line({RuleKind::max_growth, true, 0.1, -0.05, 0, -1, {}}),
            "ok      max_growth         device 0: -5.00 % of at most +10.00 % since the baseline");
  EXPECT_EQ(line({RuleKind::max_fragmentation, false, 0.1, std::nullopt, 0, -1, {}, Undecided::not_told})
                .substr(0, 60),
            "unknown max_fragmentation  device 0: this cannot be checked:");
}

TEST_F(LinesOfCheck, WhatCannotBeDecidedSaysWhyAndWhatTheRecordingShows) {
  EXPECT_EQ(
      line({RuleKind::max_peak, false, 4096, 2048, 0, 5, {}, Undecided::no_history}),
      "unknown max_peak           device 0: this cannot be checked: no history was recorded; call "
      "torch.cuda.memory._record_memory_history() before the run; recorded: 2.0 KiB (2,048 bytes) of at "
      "most 4.0 KiB, event 5");
  for (const Undecided why :
       {Undecided::events_lost, Undecided::incomplete, Undecided::not_ended, Undecided::ends_out_of_memory,
        Undecided::starts_in_use, Undecided::segments_missing, Undecided::no_steps, Undecided::steps_of_trace,
        Undecided::few_steps, Undecided::guessed_steps, Undecided::unsure_leak, Undecided::baseline}) {
    const std::string said = line({RuleKind::no_leak, false, 0, 0, 0, -1, {}, why});
    EXPECT_THAT(said, testing::StartsWith("unknown no_leak            device 0: this cannot be checked: "));
    EXPECT_THAT(said, testing::Not(testing::HasSubstr("leaking stacks")));
  }
}

TEST_F(LinesOfCheck, OfAProfilersTraceTheProcessorIsNoDevice0) {
  CheckedRule rule = {RuleKind::no_oom, true, 0, 0, 0, -1, {}};
  rule.is_processor = true;
  EXPECT_EQ(line(rule), "ok      no_oom             the processor (CPU): out of memory 0 times");
  EXPECT_THAT(junit_case(story.recording, rule, "a"),
              testing::HasSubstr("name=\"no_oom, the processor (CPU)\""));
}

TEST_F(LinesOfCheck, JsonHasWholeBytesAndSharesAsTheyAre) {
  EXPECT_EQ(
      json({RuleKind::max_peak, true, 4096.4, 2048, 1, 57, {}}),
      R"({"rule":"max_peak","kept":true,"device":1,"is_processor":false,"value":2048,"limit":4096,"event":57,"who":null,"undecided":null})");
  EXPECT_EQ(
      json({RuleKind::max_growth, false, 0.125, 0.5, 0, -1, {}}),
      R"({"rule":"max_growth","kept":false,"device":0,"is_processor":false,"value":0.5,"limit":0.125,"event":-1,"who":null,"undecided":null})");
  EXPECT_EQ(
      json({RuleKind::max_fragmentation, true, 0.125, 0.0625, 0, -1, {}}),
      R"({"rule":"max_fragmentation","kept":true,"device":0,"is_processor":false,"value":0.0625,"limit":0.125,"event":-1,"who":null,"undecided":null})");
  EXPECT_EQ(
      json({RuleKind::max_reserved, false, 1, std::nullopt, 0, -1, {}, Undecided::not_told}),
      R"({"rule":"max_reserved","kept":null,"device":0,"is_processor":false,"value":null,"limit":1,"event":-1,"who":null,)"
      R"("undecided":"not_told"})");
  // What the recording shows is told.
  EXPECT_EQ(
      json({RuleKind::max_peak, false, 4096, 2048, 0, 5, {}, Undecided::events_lost}),
      R"({"rule":"max_peak","kept":null,"device":0,"is_processor":false,"value":2048,"limit":4096,"event":5,"who":null,)"
      R"("undecided":"events_lost"})");
}

TEST_F(LinesOfCheck, JunitTellsFailuresFromWhatCannotBeChecked) {
  const auto junit = [&](const CheckedRule& rule) { return junit_case(story.recording, rule, "a&b"); };
  EXPECT_EQ(junit({RuleKind::no_oom, true, 0, 0, 3, -1, {}}),
            "  <testcase classname=\"a&amp;b\" name=\"no_oom, device 3\"/>\n");
  EXPECT_EQ(
      junit({RuleKind::no_oom, false, 0, 2, 3, -1, {}}),
      "  <testcase classname=\"a&amp;b\" name=\"no_oom, device 3\"><failure message=\"device 3: out of memory 2 "
      "times\"/></testcase>\n");
  EXPECT_THAT(junit({RuleKind::no_leak, false, 0, 0, 3, -1, {}, Undecided::no_steps}),
              testing::HasSubstr("><error message=\"device 3: this cannot be checked: no steps were found"));
}

TEST_F(LinesOfCheck, RulesOfAFileStandInOneLine) {
  const CheckedRule rules[] = {{RuleKind::no_oom, true, 0, 0, 0, -1, {}}};
  EXPECT_EQ(
      json_of(CheckLine{story.recording, "a", true, rules}),
      R"({"file":"a","kept":true,"rules":[{"rule":"no_oom","kept":true,"device":0,"is_processor":false,"value":0,"limit":0,"event":-1,"who":null,"undecided":null}]})");
}

TEST(ServedAnswers, FilesSessionsAndRefusals) {
  ServedFiles served{"0.1.0", "/data", true, 3, {}};
  served.files.push_back({"a", 10, 20, 30, ""});
  served.files.push_back({"b", 1, 2, std::nullopt, "why"});
  EXPECT_EQ(json_of(served), R"({"version":"0.1.0","served":"/data","left_out":true,"to_examine":3,"files":[)"
                             R"({"name":"a","bytes":10,"modified_us":20,"peak_bytes":30},)"
                             R"({"name":"b","bytes":1,"modified_us":2,"peak_bytes":null,"error":"why"}]})");
  EXPECT_EQ(json_of(Reading{true, 1, 2, 3, std::nullopt, std::nullopt}),
            R"({"ready":true,"bytes":1,"total":2,"events":3,"journal":null})");
  const ServedJournal journal{"a", JournalState::left, 77, 5, 72, std::nullopt};
  EXPECT_EQ(
      json_of(Reading{true, 1, 2, 3, journal, std::nullopt}),
      R"({"ready":true,"bytes":1,"total":2,"events":3,"journal":{"closed":false,"started_us":5,"position":72,"events":null}})");
  EXPECT_EQ(
      json_of(ServedJournals{{journal}}),
      R"({"journals":[{"name":"a","state":"left","process":77,"started_us":5,"position":72,"events":null}]})");
  EXPECT_EQ(json_of(OpenedSession{"id", "a"}), R"({"session":"id","name":"a"})");
  EXPECT_EQ(json_of(Refused{Error{ErrorCode::limit_exceeded, "no room", -1, ""}}),
            R"({"error":{"code":"limit_exceeded","message":"no room","offset":-1}})");
}

}  // namespace
}  // namespace gpustrata::answers
