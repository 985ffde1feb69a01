#include "engine/analysis/steps/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/answers/steps/marks.h"
#include "engine/answers/text/json_of.h"
#include "tests/unit/analysis/story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::Action;

// Ten allocs of 1, 2, 4, ... bytes, event i at i * 10 microseconds; every other one is freed by nothing.
Result<std::string> marks_json(const Story& story, const model::Part& part, const replay::DeviceRows& rows) {
  return find_marks(story.recording, part, rows).map([&](const Marks& marks) {
    return answers::json_of(story.recording, marks);
  });
}

class MarksOfAProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 10; ++i)
      story.alloc(kBase + 4096 * static_cast<uint64_t>(i), int64_t{1} << i).time(i * 10);
  }
  void annotate(const char* name, model::Stage stage, int64_t time_us, int32_t device = 0) {
    auto& table = story.recording.annotations;
    ASSERT_TRUE(table.name.push_back(story.text(name)) && table.stage.push_back(stage) &&
                table.device.push_back(device) && table.time.push_back(time_us));
  }
  void start(const char* name, int64_t time_us) { annotate(name, model::Stage::start, time_us); }
  void end(const char* name, int64_t time_us) { annotate(name, model::Stage::end, time_us); }
  // A frame stands for a region, as files of mid 2024 have it.
  void user_defined(const char* name, const char* stage) {
    story.event(Action::user_defined, 0, 0);
    const std::vector<FrameId> frames{story.frame(stage, name, 0)};
    story.recording.events.stack.back() = story.recording.stacks.intern(frames);
  }
  std::string found(int32_t device = 0) {
    EXPECT_TRUE(story.stored());
    model::Part& part = story.recording.parts[0];
    part.traces = {{device, {0, static_cast<int32_t>(story.recording.events.size_rows())}}};
    part.annotations = {0, static_cast<int32_t>(story.recording.annotations.size_rows())};
    const auto text = marks_json(story, part, replay::rows_of(part, device));
    EXPECT_TRUE(text.has_value());
    return text.value_or("");
  }

  Story story;
};

std::string region(const char* name, int from, int to, const char* from_us, const char* to_us, int depth,
                   const char* cuts, int64_t bytes, int count) {
  return std::string(R"({"name":")") + name + R"(","from_event":)" + std::to_string(from) +
         R"(,"to_event":)" + std::to_string(to) + R"(,"from_us":)" + from_us + R"(,"to_us":)" + to_us +
         R"(,"depth":)" + std::to_string(depth) + "," + cuts + R"(,"allocated_bytes":)" +
         std::to_string(bytes) + R"(,"allocations":)" + std::to_string(count) + "}";
}
constexpr const char* kWhole = R"("cut_start":false,"cut_end":false)";

TEST_F(MarksOfAProgram, RegionsNestAndHoldTheEventsBetweenTheirTimes) {
  start("step", 5);  // before event 1
  start("forward", 20);
  end("forward", 35);
  start("backward", 40);
  end("backward", 61);
  end("step", 61);
  const std::string text = found();
  // Events [1, 7) of the step: 2 + 4 + ... + 64; [2, 4) and [4, 7) of what is in it.
  EXPECT_EQ(text, R"({"regions":[)" + region("step", 1, 7, "5", "61", 0, kWhole, 126, 6) + "," +
                      region("forward", 2, 4, "20", "35", 1, kWhole, 12, 2) + "," +
                      region("backward", 4, 7, "40", "61", 1, kWhole, 112, 3) +
                      R"(],"regions_left_out":0,"markers":[],"markers_left_out":0})");
}

TEST_F(MarksOfAProgram, PairsOfOneNameNest) {
  start("layer", 0);
  start("layer", 10);
  end("layer", 30);
  end("layer", 50);
  EXPECT_THAT(found(), HasSubstr(region("layer", 0, 5, "0", "50", 0, kWhole, 31, 5) + "," +
                                 region("layer", 1, 3, "10", "30", 1, kWhole, 6, 2)));
}

TEST_F(MarksOfAProgram, AHalfOfAPairReachesToTheBorderOfTheRecording) {
  end("before", 25);
  start("after", 85);
  const std::string text = found();
  EXPECT_THAT(
      text, HasSubstr(region("before", 0, 3, "null", "25", 0, R"("cut_start":true,"cut_end":false)", 7, 3)));
  EXPECT_THAT(text, HasSubstr(region("after", 9, 10, "85", "null", 0, R"("cut_start":false,"cut_end":true)",
                                     512, 1)));
}

TEST_F(MarksOfAProgram, OnlyThoseOfTheDevice) {
  annotate("mine", model::Stage::start, 0, 0);
  annotate("theirs", model::Stage::start, 0, 1);
  annotate("whose", model::Stage::unknown, 0, 0);
  const std::string text = found();
  EXPECT_THAT(text, HasSubstr("mine"));
  EXPECT_THAT(text, testing::Not(testing::AnyOf(HasSubstr("theirs"), HasSubstr("whose"))));
}

TEST_F(MarksOfAProgram, TimesThatRunBackwardsDoNotMoveEventsBack) {
  story.alloc(kBase + (1 << 20), 1).time(15);  // event 10, after one at 90
  start("late", 91);                           // behind every event
  const std::string text = found();
  EXPECT_THAT(text, HasSubstr(R"("name":"late","from_event":11,"to_event":11)"));
}

TEST_F(MarksOfAProgram, UserDefinedEventsAreRegionsToo) {
  user_defined("optimizer", "START");  // event 10
  story.alloc(kBase + (1 << 20), 100);
  user_defined("optimizer", "END");
  user_defined("other", "MIDDLE");
  EXPECT_THAT(found(), HasSubstr(region("optimizer", 10, 12, "null", "null", 0, kWhole, 100, 1)));
  EXPECT_THAT(found(), testing::Not(HasSubstr("other")));
}

TEST_F(MarksOfAProgram, TooManyKeepTheLongestAndCountTheRest) {
  start("all", 0);
  for (int i = 0; i < 2100; ++i) {  // no event lies in any of them
    start("short", 11 + i % 8);
    end("short", 11 + i % 8);
  }
  end("all", 1000);
  const std::string text = found();
  EXPECT_THAT(text, HasSubstr(R"("regions_left_out":101)"));
  EXPECT_THAT(text, HasSubstr(region("all", 0, 10, "0", "1000", 0, kWhole, 1023, 10)));
}

TEST_F(MarksOfAProgram, MarkersAreTheFirstOfTheirKindInOrder) {
  story.event(Action::oom, 77, 3 << 20, 100);
  story.event(Action::snapshot, 0, 0, 110);
  story.annotate(kBase, "after the third layer");
  EXPECT_THAT(
      found(),
      HasSubstr(
          R"("markers":[{"kind":"oom","event":10,"time_us":100,"text":"out of memory: 3.0 MiB requested"},)"
          R"({"kind":"snapshot","event":11,"time_us":110,"text":"snapshot taken"},)"
          R"({"kind":"annotate","event":12,"time_us":null,"text":"after the third layer"}],"markers_left_out":0)"));
  for (int i = 0; i < 2000; ++i) story.event(Action::snapshot, 0, 0);
  EXPECT_THAT(found(), HasSubstr(R"("markers_left_out":3})"));
}

TEST_F(MarksOfAProgram, OfPinnedMemoryTheAnnotationsOfAllDevicesCount) {
  annotate("step", model::Stage::start, 0, 3);
  model::Part& part = story.recording.parts[0];
  part.has_host = true;
  part.host_events = {0, 10};
  part.annotations = {0, 1};
  const auto text = marks_json(story, part, replay::rows_of(part, replay::kHostDevice));
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr(R"("name":"step","from_event":0,"to_event":10)"));
}

TEST(MarksOfNothing, AreEmpty) {
  Story story;
  const model::Part& part = story.recording.parts[0];
  EXPECT_EQ(*marks_json(story, part, replay::rows_of(part, 0)),
            R"({"regions":[],"regions_left_out":0,"markers":[],"markers_left_out":0})");
}

}  // namespace
}  // namespace gpustrata::analysis
