#include "engine/analysis/report/summary.h"

#include <gtest/gtest.h>

#include "engine/answers/common/failure.h"
#include "engine/answers/common/findings.h"
#include "engine/answers/report/summary.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

// {"file": what is said, ...}
Result<std::string> summary_json(const model::Recording& recording, std::string_view file) {
  const auto summary = summarize(recording);
  if (!summary) return tl::unexpected(summary.error());
  return answers::json_of(*summary, file);
}

using model::BlockState;
using model::Diag;

// Level: 5 from the start (freed by the last event), then 105, 105, 5, 35, 30.
void tell(Story& story) {
  story.segment(0x1000, 4096);
  story.block(0x1000, 512, 100, BlockState::inactive);
  story.block(0x1200, 512, 30, BlockState::active_allocated);
  story.block(0x1400, 3072, 0, BlockState::active_pending_free);
  story.alloc(0x1000, 100).frames({"f"}).time(50);
  story.request(0x1000, 100).frames({"f"});
  story.complete(0x1000, 100).frames({});
  story.alloc(0x1200, 30).time(70);
  story.complete(0x9000, 5);
}

TEST(Summary, CountsOneDevice) {
  Story story;
  tell(story);
  ASSERT_TRUE(story.lifetimes().has_value());
  story.recording.seal();
  story.recording.input_bytes = 123;
  const auto text = summary_json(story.recording, "a \"b\".pickle");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(
      *text,
      R"({"file":"a \"b\".pickle","format":"pickle","bytes":123,"snapshots":[{"devices":[{"device":0,"events":5,)"
      R"("actions":{"alloc":2,"free_requested":1,"free_completed":2},"segments":1,"blocks":3,)"
      R"("reserved_bytes":4096,"allocated_bytes":512,"active_bytes":3584,"initial_requested_bytes":5,)"
      R"("final_requested_bytes":30,"peak":{"requested_bytes":105,"event":0},"distinct_stacks":2,)"
      R"("first_time_us":50,"last_time_us":70}],"host":null,"settings":{},"annotations":0}],)"
      R"("diagnostics":[{"name":"free_without_alloc","severity":"info","count":1,"first_offset":null,"text":")" +
          std::string(answers::text_of(Diag::free_without_alloc)) + R"("}]})");
}

TEST(Summary, EventsEarlierThanOneBeforeThemAreCounted) {
  Story story;
  for (const int64_t time : {50, 0, 40, 50, 60}) story.alloc(0x1000, 1).time(time);
  ASSERT_TRUE(story.lifetimes().has_value());
  const auto summary = summarize(story.recording);
  ASSERT_TRUE(summary.has_value());
  ASSERT_FALSE(summary->diagnostics.empty());
  EXPECT_EQ(summary->diagnostics[0].name, "time_not_monotonic");
  EXPECT_EQ(summary->diagnostics[0].count, 2);  // 0 and 40 after 50
  EXPECT_EQ(summary->snapshots[0].devices[0].last_time_us, 60);
}

TEST(Summary, AskingTwiceGivesTheSameAnswer) {
  Story story;
  tell(story);
  ASSERT_TRUE(story.lifetimes().has_value());  // a view was open before
  const auto first = summary_json(story.recording, "x"), second = summary_json(story.recording, "x");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST(Summary, HostNameAndSettingsAppearWhereTheyExist) {
  Story story;
  model::Part& part = story.recording.parts[0];
  part.name = "rank0";
  part.has_host = true;
  part.host_events = {0, 4};
  part.annotations = {0, 2};
  part.settings_json = story.text("{\"max_split_size\":-1}");
  const auto text = summary_json(story.recording, "x");
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find(R"([{"name":"rank0","devices":[],"host":{"segments":0,"events":4},)"
                       R"("settings":{"max_split_size":-1},"annotations":2}])"),
            std::string::npos)
      << *text;
}

TEST(Summary, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(answers::json_of(answers::Failed{"invalid_format", "f", "No.", 17, {}}),
            R"({"file":"f","error":{"code":"invalid_format","message":"No.","offset":17}})");
  EXPECT_EQ(answers::json_of(answers::Failed{"unreadable", "f", "No.", -1, {}}),
            R"({"file":"f","error":{"code":"unreadable","message":"No.","offset":null}})");
}

TEST(Summary, LongNamesOfActionsAreCut) {
  Story story;
  story.recording.unknown_actions.push_back(story.text(std::string(1000, 'u')));
  story.HandTrace::event(trace::Action::first_unknown, 0x1000, 1);
  ASSERT_TRUE(story.lifetimes().has_value());
  const auto text = summary_json(story.recording, "x");
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find("\"actions\":{\"" + std::string(200, 'u') + "…\":1}"), std::string::npos);
}

TEST(Summary, NotEnoughMemoryIsAnError) {
  Story story;
  tell(story);
  ASSERT_TRUE(story.lifetimes().has_value());
  ASSERT_TRUE(story.budget.take(story.budget.limit() - story.budget.used()));
  const auto text = summary_json(story.recording, "x");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace gpustrata::analysis
