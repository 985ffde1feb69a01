#include "engine/answers/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "engine/analysis/overview.h"
#include "engine/answers/json_of.h"
#include "tests/unit/analysis/opened_story.h"

namespace memstrata::answers {
namespace {

using analysis::find_overview;
using analysis::NotRecorded;
using analysis::Overview;
using analysis::Story;
using testing::HasSubstr;
using testing::Not;
using trace::Action;

constexpr uint64_t kBase = 0x7f0000000000;
constexpr int64_t kMiB = 1 << 20;

class OverviewOf {
 public:
  explicit OverviewOf(Story& story) : opened_(story) {
    auto found = find_overview(opened_.recording, opened_.part(), *opened_.lifetimes);
    EXPECT_TRUE(found.has_value());
    overview = std::make_unique<Overview>(std::move(*found));
    json = json_of(opened_.recording, *overview);
  }
  std::unique_ptr<Overview> overview;
  std::string json;

 private:
  analysis::OpenedStory opened_;
};

StackId line(Story& story, int number) {
  const std::vector<FrameId> frames{story.frame("f", "/home/a/train.py", number)};
  return story.recording.stacks.intern(frames);
}

TEST(Overview, PartsAndTheRestArePreciselyThePeak) {
  // Seven lines of 10, 20, ... 70 MiB: the five largest are 250 of 280 MiB, the rest 30 in two lines.
  Story story;
  story.segment(kBase, 1024 * kMiB);
  for (int i = 1; i <= 7; ++i) {
    story.alloc(kBase + (static_cast<uint64_t>(i) << 30), i * 10 * kMiB);
    story.recording.events.stack.back() = line(story, i);
  }
  story.request(kBase + (uint64_t{7} << 30), 70 * kMiB).complete(kBase + (uint64_t{7} << 30), 70 * kMiB);
  const OverviewOf of(story);
  const Overview& overview = *of.overview;
  EXPECT_EQ(overview.peak_bytes, 280 * kMiB);
  EXPECT_EQ(overview.peak_event, 6);
  ASSERT_EQ(overview.peak_lines.groups.size(), 5u);
  int64_t sum = overview.peak_lines.other_bytes;
  for (const auto& group : overview.peak_lines.groups) sum += group.bytes;
  EXPECT_EQ(sum, overview.peak_bytes);
  EXPECT_EQ(overview.peak_lines.other_bytes, 30 * kMiB);
  EXPECT_EQ(overview.peak_lines.groups[0].largest_rank, 6);
  // 1,024 MiB reserved all the time: 744 unused at the peak, 814 at the end.
  EXPECT_EQ(overview.at_peak.unused(), 744 * kMiB);
  EXPECT_EQ(overview.at_end.unused(), 814 * kMiB);
  EXPECT_THAT(of.json,
              HasSubstr(R"("kind":"peak","text":"The peak is 280.0 MiB, after event 6, in 7 blocks.",)"
                        R"("bytes":293601280,"event":6,"rank":null,"filter":"alive@peak")"));
  EXPECT_THAT(of.json,
              HasSubstr(R"({"who":"f train.py:7","text":"70.0 MiB (25.0 %) in 1 block: f train.py:7",)"
                        R"("bytes":73400320,"blocks":1,"rank":6,)"
                        R"("filter":"stack:\"train.py:7:f\" alive@peak"})"));
  EXPECT_THAT(of.json, HasSubstr(R"("rest":{"text":"30.0 MiB (10.7 %) in 2 blocks of 2 other lines",)"
                                 R"("bytes":31457280,"blocks":2,"lines":2})"));
}

TEST(Overview, StacksOfBlocksAreStacks) {
  // No event has a stack; with a block of the final state that has one, who asked for memory is known.
  for (const bool has : {false, true}) {
    Story story;
    story.segment(kBase, 2 * kMiB);
    story.block(kBase, kMiB, kMiB, model::BlockState::active_allocated);
    if (has) story.recording.blocks.stack.back() = line(story, 7);
    story.alloc(kBase, kMiB);
    const OverviewOf of(story);
    EXPECT_EQ(of.json.find(R"("what":"stacks")") == std::string::npos, has) << of.json;
  }
}

TEST(Overview, RunningOutOfMemoryComesFirst) {
  Story story;
  story.segment(kBase, 40 * kMiB);
  story.alloc(kBase, 30 * kMiB);
  story.event(Action::oom, static_cast<uint64_t>(7 * kMiB), 64 * kMiB);
  story.recording.events.stack.back() = line(story, 22);
  const OverviewOf of(story);
  ASSERT_EQ(of.overview->out_of_memory.size(), 1u);
  EXPECT_EQ(of.overview->out_of_memory[0].device_free, 7 * kMiB);
  EXPECT_THAT(
      of.json,
      HasSubstr(R"("findings":[{"kind":"out_of_memory","text":"Out of memory at event 1: 64.0 MiB )"
                R"(requested by f train.py:22; the device had 7.0 MiB free, and 10.0 MiB reserved were )"
                R"(unused.","bytes":67108864,"event":1,"rank":null,"filter":null,"device_free":7340032,)"
                R"("reserved_unused":10485760,"who":"f train.py:22")"));
}

TEST(Overview, OlderMemoryAndWhatIsMissingAreTold) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, 2 * kMiB, model::BlockState::active_allocated);
  story.alloc(kBase + static_cast<uint64_t>(4 * kMiB), 6 * kMiB);
  story.request(kBase + static_cast<uint64_t>(20 * kMiB), 3 * kMiB);
  story.complete(kBase + static_cast<uint64_t>(20 * kMiB), 3 * kMiB);
  const OverviewOf of(story);
  // From before: 2 MiB that stay and 3 MiB that are freed in the end; the peak is 11 MiB after event 0.
  ASSERT_TRUE(of.overview->from_before.has_value());
  EXPECT_EQ(of.overview->from_before->bytes_at_start, 5 * kMiB);
  EXPECT_EQ(of.overview->from_before->bytes_at_peak, 5 * kMiB);
  EXPECT_EQ(of.overview->from_before->bytes_at_end, 2 * kMiB);
  EXPECT_THAT(of.json,
              HasSubstr(R"("kind":"from_before","text":"5.0 MiB in 2 blocks are from before the recording; )"
                        R"(5.0 MiB (45.5 %) of them are part of the peak.")"));
  EXPECT_THAT(of.json, HasSubstr(R"("what":"stacks","python":)"));
  EXPECT_THAT(of.json, HasSubstr(R"("what":"times","python":)"));
  EXPECT_THAT(of.json, Not(HasSubstr("oldest_events")));
}

TEST(Overview, AFileWithoutHistorySaysSo) {
  Story story;
  story.segment(kBase, 40 * kMiB).block(kBase, 2 * kMiB, kMiB, model::BlockState::active_allocated);
  const OverviewOf of(story);
  ASSERT_EQ(of.overview->missing.size(), 1u);
  EXPECT_EQ(of.overview->missing[0].what, NotRecorded::history);
  EXPECT_THAT(of.json, HasSubstr(R"("text":"1.0 MiB in 1 block when it was saved.")"));
  EXPECT_THAT(of.json, HasSubstr("torch.cuda.memory._record_memory_history()"));
}

}  // namespace
}  // namespace memstrata::answers
