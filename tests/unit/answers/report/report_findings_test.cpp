// What a report says first, and what it does not say.
#include "engine/answers/report/report_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/opened_story.h"
#include "tests/unit/numbers.h"

namespace gpustrata::answers {
namespace {

using analysis::OpenedStory;
using analysis::Story;
using model::BlockState;
using testing::ElementsAre;
using testing::HasSubstr;

[[nodiscard]] std::vector<ReportFinding> findings_in(Story& story) {
  const OpenedStory opened(story);
  const auto device = analysis::Device::open(opened.recording, opened.part(), 0);
  EXPECT_TRUE(device.has_value());
  const auto report = analysis::find_report(opened.context(), **device);
  EXPECT_TRUE(report.has_value());
  return findings_of(opened.context(), *report);
}
[[nodiscard]] std::vector<std::string> kinds_of(const std::vector<ReportFinding>& findings) {
  std::vector<std::string> kinds;
  for (const ReportFinding& one : findings) kinds.push_back(one.kind);
  return kinds;
}

// 20 MiB reserved and in use, allocated in the recording with a stack and times.
void quiet_run(Story& story) {
  static_cast<Story&>(story.event(trace::Action::segment_alloc, kBase, 20 * kMiB))
      .frames({"train", "main"})
      .time(1000);
  story.alloc(kBase, 20 * kMiB).frames({"forward", "main"}).time(2'000);
  story.request(kBase, 20 * kMiB).frames({"forward", "main"}).time(3'000);
  story.complete(kBase, 20 * kMiB).frames({"forward", "main"}).time(4'000);
  story.alloc(kBase, 1 * kMiB).frames({"small", "main"}).time(5'000);
  story.complete(kBase, 1 * kMiB).time(1'501'000);
  story.segment(kBase, 20 * kMiB).block(kBase, 20 * kMiB, 0, BlockState::inactive);
}

TEST(ReportFindings, AQuietFileGetsAQuietPage) {
  Story story;
  quiet_run(story);
  const auto findings = findings_in(story);
  EXPECT_THAT(kinds_of(findings), ElementsAre("peak", "reserved", "recording"));
  const ReportFinding& peak = findings[0];
  EXPECT_EQ(peak.bytes, 20 * kMiB);
  EXPECT_EQ(peak.value, "20.0 MiB");
  EXPECT_FALSE(peak.bad);
  EXPECT_EQ(peak.says[0].text, "Reached after event 1 of 6, in 1 block.");
  EXPECT_EQ(peak.says[0].proof.event, 1);
  EXPECT_EQ(peak.says[0].proof.filter, "alive@peak");
  ASSERT_EQ(peak.parts.size(), 1u);
  EXPECT_EQ(peak.parts[0].who, "forward file.py:1");
  EXPECT_EQ(peak.parts[0].proof.filter, "stack:\"file.py:1:forward\" alive@peak");
  EXPECT_EQ(peak.rest, "");
  EXPECT_THAT(findings[2].says[1].text, HasSubstr("1.5 s"));
}

TEST(ReportFindings, AnOutOfMemoryErrorComesFirstWithWhatHelpsMost) {
  Story story;
  story.event(trace::Action::oom, static_cast<uint64_t>(10 * kMiB), 40 * kMiB);
  story.segment(kBase, 60 * kMiB);
  story.block(kBase, 30 * kMiB, 0, BlockState::inactive);
  story.block(kBase + 30 * kMiB, 20 * kMiB, 20 * kMiB, BlockState::active_allocated);
  story.block(kBase + 50 * kMiB, 10 * kMiB, 0, BlockState::inactive);
  const auto findings = findings_in(story);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "oom");
  EXPECT_TRUE(findings[0].bad);
  EXPECT_EQ(findings[0].bytes, 40 * kMiB);
  EXPECT_THAT(findings[0].says[0].text, HasSubstr("enough in total, but not contiguous"));
  EXPECT_EQ(findings[0].says[0].proof.event, 0);
  EXPECT_THAT(findings[0].says[1].text, HasSubstr("What helps most: Freeing 1 block"));
  EXPECT_EQ(findings[0].says[1].proof.more, "oom");
}

TEST(ReportFindings, ASavedMomentSaysHowToRecordMore) {
  Story story;
  story.segment(kBase, 20 * kMiB).block(kBase, 20 * kMiB, 20 * kMiB, BlockState::active_allocated);
  const auto findings = findings_in(story);
  EXPECT_EQ(findings[0].title, "In use when it was saved");
  const auto missing = std::find_if(findings.begin(), findings.end(),
                                    [](const ReportFinding& one) { return one.kind == "no-history"; });
  ASSERT_NE(missing, findings.end());
  EXPECT_EQ(missing->code, "torch.cuda.memory._record_memory_history()");
}

TEST(ReportFindings, WhereReservedMemoryGoesAddsUp) {
  // 1,000 bytes asked for are a block of 1,024; the rest of the 2 MiB is cached.
  analysis::ReservedUse use{7, 2 * kMiB, 1000, 24, 2 * kMiB - 1024, 0};
  EXPECT_EQ(reserved_use_text(use), "1000 B requested, 24 B rounding, 2.0 MiB cached (100 %).");
  EXPECT_TRUE(is_worth_saying(use));
  use.pending = 1024;
  EXPECT_THAT(reserved_use_text(use), HasSubstr("(1.0 KiB of it wait to be freed)"));
  EXPECT_FALSE(is_worth_saying(analysis::ReservedUse{7, 100, 99, 1, 0, 0}));
}

}  // namespace
}  // namespace gpustrata::answers
