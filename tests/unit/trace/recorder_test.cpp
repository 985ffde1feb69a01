#include "engine/trace/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/manual_clock.h"

namespace gpustrata::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TraceEvent event(Action action, uint64_t address = 4096, StackId stack = {}) {
  TraceEvent made;
  made.action = action;
  made.address = address;
  made.size = 512;
  made.stack = stack;
  return made;
}

class RecorderTest : public testing::Test {
 protected:
  void record(const RecordOptions& options) { ASSERT_TRUE(recorder.record_memory_history(options)); }
  [[nodiscard]] const RecorderRing<TraceEvent>& events() { return recorder.device(0).events(); }
  [[nodiscard]] std::vector<Action> actions() {
    std::vector<Action> found;
    for (int64_t i = 0; i < events().size(); ++i) found.push_back(events()[i].action);
    return found;
  }
  [[nodiscard]] std::string refusal(const RecordOptions& options) {
    const Status status = recorder.record_memory_history(options);
    EXPECT_FALSE(status);
    if (status) return {};
    EXPECT_EQ(status.error().code, ErrorCode::wrong_usage);
    return status.error().message;
  }

  Budget budget{int64_t{64} << 20};
  tests::ManualClock clock;
  Recorder recorder{clock, budget};
};

TEST_F(RecorderTest, RecordsNothingUntilAsked) {
  recorder.device(0).on_event(event(Action::alloc));
  recorder.begin_region("step", 0);
  EXPECT_EQ(events().size(), 0);
  EXPECT_EQ(recorder.regions().size(), 0);
}

TEST_F(RecorderTest, AddsTimeAndTexts) {
  record({});
  recorder.device(0).on_event(event(Action::alloc));
  recorder.set_user_metadata("epoch 1");
  recorder.device(0).on_event(event(Action::free_requested));
  TraceEvent own = event(Action::alloc);
  own.metadata = recorder.text("weights");
  recorder.device(0).on_event(own);
  const StringPool& strings = recorder.strings();
  EXPECT_EQ(events()[0].time_us, 1'700'000'000'000'000);
  EXPECT_EQ(events()[1].time_us, 1'700'000'000'000'001);
  EXPECT_EQ(strings.view(events()[0].metadata), "");
  EXPECT_EQ(strings.view(events()[1].metadata), "epoch 1");
  EXPECT_EQ(strings.view(events()[2].metadata), "weights");
  EXPECT_EQ(strings.view(events()[2].context), "N/A");
}

TEST_F(RecorderTest, CompileContextOnlyIfAskedFor) {
  record({});
  recorder.set_compile_context("Torch-Compiled Region: 0/0");
  recorder.device(0).on_event(event(Action::alloc));
  RecordOptions options;
  options.compile_context = true;
  record(options);
  recorder.device(0).on_event(event(Action::alloc));
  recorder.set_compile_context("");
  recorder.device(0).on_event(event(Action::alloc));
  EXPECT_EQ(recorder.strings().view(events()[0].context), "N/A");
  EXPECT_EQ(recorder.strings().view(events()[1].context), "Torch-Compiled Region: 0/0");
  EXPECT_EQ(recorder.strings().view(events()[2].context), "N/A");
}

TEST_F(RecorderTest, LevelsSayWhoKeepsAStack) {
  const StackId stack = recorder.stack({});
  ASSERT_FALSE(stack.is_none());
  struct Case {
    std::optional<std::string> context;
    bool malloc, free, in_event;
  };
  const Case cases[] = {{std::nullopt, false, false, false},
                        {"state", true, false, false},
                        {"alloc", true, false, true},
                        {"all", true, true, true}};
  for (const Case& wanted : cases) {
    RecordOptions options;
    options.context = wanted.context;
    options.clear_history = true;
    record(options);
    EXPECT_EQ(recorder.wants_stack(StackLevel::state), wanted.malloc);
    EXPECT_EQ(recorder.wants_stack(StackLevel::all), wanted.free);
    recorder.device(0).on_event(event(Action::alloc, 4096, stack));
    recorder.device(0).on_event(event(Action::snapshot, 0, stack));
    EXPECT_EQ(!events()[0].stack.is_none(), wanted.in_event);
    EXPECT_TRUE(events()[1].stack.is_none());
  }
}

TEST_F(RecorderTest, StateKeepsOneEntry) {
  RecordOptions options;
  options.enabled = "state";
  record(options);
  recorder.device(0).on_event(event(Action::alloc, 1));
  recorder.device(0).on_event(event(Action::alloc, 2));
  ASSERT_EQ(events().size(), 1);
  EXPECT_EQ(events()[0].address, 2U);
  EXPECT_EQ(events().lost(), 1);
}

TEST_F(RecorderTest, NoneStopsAndForgets) {
  record({});
  recorder.device(0).on_event(event(Action::alloc));
  recorder.begin_region("step", 0);
  RecordOptions options;
  options.enabled.reset();
  record(options);
  recorder.device(0).on_event(event(Action::alloc));
  EXPECT_EQ(events().size(), 0);
  EXPECT_EQ(recorder.regions().size(), 0);
  EXPECT_FALSE(recorder.wants_stack(StackLevel::state));
}

TEST_F(RecorderTest, CalledAgainItKeepsTheHistory) {
  record({});
  for (uint64_t i = 0; i < 5; ++i) recorder.device(0).on_event(event(Action::alloc, i));
  RecordOptions options;
  options.max_entries = 3;
  record(options);
  recorder.device(0).on_event(event(Action::alloc, 5));
  EXPECT_EQ(events()[0].address, 3U);
  EXPECT_EQ(events()[2].address, 5U);
  options.clear_history = true;
  record(options);
  EXPECT_EQ(events().size(), 0);
}

TEST_F(RecorderTest, SkippedActionsAreAbsent) {
  RecordOptions options;
  options.skip_actions = {"free_requested", "oom"};
  record(options);
  for (const Action action : {Action::alloc, Action::free_requested, Action::free_completed, Action::oom}) {
    recorder.device(0).on_event(event(action));
  }
  EXPECT_THAT(actions(), ElementsAre(Action::alloc, Action::free_completed));
}

TEST_F(RecorderTest, WrongArgumentsChangeNothing) {
  record({});
  RecordOptions options;
  options.enabled = "yes";
  EXPECT_THAT(refusal(options), HasSubstr("enabled is None, \"state\" or \"all\", not \"yes\""));
  options = {};
  options.context = "python";
  EXPECT_THAT(refusal(options), HasSubstr("context"));
  options = {};
  options.stacks = "cpp";
  EXPECT_THAT(refusal(options), HasSubstr("stacks"));
  options = {};
  options.max_entries = -1;
  EXPECT_THAT(refusal(options), HasSubstr("max_entries"));
  options.max_entries = 0;
  EXPECT_THAT(refusal(options), HasSubstr("max_entries is at least 1, but it is 0"));
  options = {};
  options.skip_actions = {"alloc", "annotate"};
  EXPECT_THAT(refusal(options), HasSubstr("\"annotate\""));
  EXPECT_TRUE(recorder.settings().enabled);
  EXPECT_EQ(recorder.settings().skipped, 0U);
}

TEST_F(RecorderTest, StoppingAsksForNoEntries) {
  RecordOptions options;
  options.enabled.reset();
  options.max_entries = 0;
  record(options);
  EXPECT_FALSE(recorder.settings().enabled);
}

TEST_F(RecorderTest, RegionsAndAnnotations) {
  record({});
  recorder.begin_region("forward", 1);
  recorder.end_region("forward", 1);
  ASSERT_EQ(recorder.regions().size(), 2);
  EXPECT_EQ(recorder.strings().view(recorder.regions()[0].name), "forward");
  EXPECT_TRUE(recorder.regions()[0].begins);
  EXPECT_FALSE(recorder.regions()[1].begins);
  EXPECT_EQ(recorder.regions()[1].device, 1);
  EXPECT_EQ(recorder.regions()[1].time_us, 1'700'000'000'000'001);

  recorder.device(0).annotate(event(Action::alloc, 8192), recorder.text("embedding"));
  EXPECT_EQ(events()[0].action, Action::annotate);
  EXPECT_EQ(events()[0].address, 8192U);
  EXPECT_EQ(recorder.strings().view(events()[0].metadata), "embedding");
}

TEST_F(RecorderTest, EqualStacksAreOne) {
  const FrameId frames[] = {recorder.frame("f", "a.py", 1), recorder.frame("main", "a.py", 9)};
  const FrameId same[] = {recorder.frame("f", "a.py", 1), recorder.frame("main", "a.py", 9)};
  EXPECT_EQ(recorder.stack(frames), recorder.stack(same));
  EXPECT_EQ(recorder.stacks().size(), 1U);
}

TEST_F(RecorderTest, WithoutMemoryForAStackThereIsNone) {
  Budget tight(int64_t{300} << 10);
  Recorder small(clock, tight);
  int64_t none = 0;
  for (int i = 0; i < 10'000; ++i) {
    const FrameId frame[] = {small.frame("function with a long name", "file", i)};
    none += small.stack(frame).is_none() ? 1 : 0;
  }
  EXPECT_GT(none, 0);
  EXPECT_EQ(small.lost_stacks(), none);
}

TEST_F(RecorderTest, DevicesHaveHistoriesOfTheirOwn) {
  RecordOptions options;
  options.max_entries = 2;
  record(options);
  DeviceRecorder& second = recorder.device(1);
  second.on_event(event(Action::alloc, 7));
  EXPECT_EQ(recorder.devices().size(), 2U);
  EXPECT_EQ(events().size(), 0);
  EXPECT_EQ(recorder.device(1).events()[0].address, 7U);
  EXPECT_EQ(&recorder.device(1), &second);
  EXPECT_EQ(recorder.device(3).events().capacity(), 2);
}

}  // namespace
}  // namespace gpustrata::trace
