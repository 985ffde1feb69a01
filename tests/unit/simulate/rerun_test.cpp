#include "engine/simulate/rerun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/answers/text/json_of.h"
#include "engine/answers/what_if/simulation_report.h"

namespace gpustrata::simulate {
namespace {

using testing::HasSubstr;

// A program that asks for `count` blocks of 1 MiB and gives every second one back.
[[nodiscard]] RequestLog program(int count, Budget& budget) {
  RequestLog log(budget);
  for (int i = 0; i < count; ++i) {
    RequestLog::Row row;
    row.request = Request::allocate;
    row.size = 1 << 20;
    row.time = 1000 + i;
    EXPECT_TRUE(log.append(row));
    if (i % 2 == 0) continue;
    row.request = Request::free;
    row.subject = static_cast<int32_t>(log.size_rows()) - 1;
    EXPECT_TRUE(log.append(row));
  }
  return log;
}

TEST(Rerun, AddsAPartWithEventsSegmentsAndSettings) {
  Budget budget(1 << 24);
  model::Recording recording(budget);
  const RequestLog log = program(3, budget);
  alloc::Config config;
  ASSERT_TRUE(alloc::apply_settings(config, "max_split_size_mb:40"));
  const auto outcome = rerun(log, config, 1 << 30, recording, "as it was");
  ASSERT_TRUE(outcome.has_value());
  recording.seal();
  ASSERT_EQ(recording.parts.size(), 1U);
  const model::Part& part = recording.parts[0];
  EXPECT_EQ(part.name, "as it was");
  // segment_alloc, 3 of alloc, free_requested and free_completed: a segment of 2 MiB has room for two blocks.
  ASSERT_EQ(part.events_of(0).count, 6);
  EXPECT_EQ(recording.events.time[0], 1000);
  EXPECT_EQ(recording.events.time[5], 1002);
  EXPECT_EQ(recording.events.address[5], outcome->address[3]);
  EXPECT_EQ(outcome->block_bytes[3], 1 << 20);
  ASSERT_EQ(part.segments.count, 1);
  EXPECT_EQ(recording.segments.total_size[0], 2 << 20);
  EXPECT_EQ(recording.segments.blocks[0].count, 2);
  EXPECT_THAT(std::string(recording.strings.view(part.settings_json)),
              HasSubstr("\"max_split_size\":41943040"));
  EXPECT_TRUE(part.capabilities.final_state);
  EXPECT_EQ(outcome->stats.reserved_bytes.all().current, 2 << 20);
}

TEST(Rerun, TheSameLogRunsUnderOtherSettingsAndSizes) {
  Budget budget(1 << 24);
  model::Recording recording(budget);
  const RequestLog log = program(8, budget);
  // The large pool's blocks begin above 1 MiB: 8 blocks, 4 freed at once, need three segments of 2 MiB.
  const auto roomy = rerun(log, {}, 1 << 30, recording);
  ASSERT_TRUE(roomy.has_value());
  EXPECT_EQ(roomy->stats.reserved_bytes.all().peak, 6 << 20);
  EXPECT_EQ(roomy->stats.num_ooms, 0);
  // On 4 MiB the last block finds no room: 4 live ones fill two segments.
  const auto tight = rerun(log, {}, 4 << 20, recording);
  ASSERT_TRUE(tight.has_value());
  EXPECT_EQ(tight->stats.num_ooms, 1);
  ASSERT_EQ(tight->ooms.size(), 1U);
  const size_t failed = static_cast<size_t>(tight->ooms[0].request);
  EXPECT_EQ(tight->address[failed], 0U);
  EXPECT_EQ(tight->oom_of(failed), tight->ooms.data());
  EXPECT_EQ(tight->oom_of(0), nullptr);
  recording.seal();
  EXPECT_EQ(recording.parts.size(), 2U);
}

TEST(Rerun, EverythingIsCharged) {
  Budget budget(1 << 20);
  {
    model::Recording recording(budget);
    RequestLog log(budget);
    RequestLog::Row row;
    row.request = Request::snapshot;  // an event each, of 41 bytes: 10,000 of them pass what is left
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(log.append(row));
    const auto outcome = rerun(log, {}, 1 << 30, recording);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::limit_exceeded);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(Rerun, AMarkThatIsRefusedIsNoSilentWait) {
  std::string script = "m a 1\n";
  for (int stream = 1; stream <= 3000; ++stream) script += "rs a " + std::to_string(stream) + "\n";
  const auto last = static_cast<int64_t>(script.size());
  script += "f a";
  // The last step needs 3,000 marks. Whatever runs out on the way: an error, or the block waits.
  int refused_at_last = 0, waiting = 0;
  for (int64_t limit = 300'000; limit < 2'500'000; limit += 150'000) {
    Budget budget(limit);
    const auto simulation = simulate(script, 1 << 30, "", budget);
    if (simulation.has_value()) {
      EXPECT_THAT(answers::json_of(*simulation), HasSubstr("S0+0 S@0: P512 -2096640"));
      ++waiting;
    } else {
      EXPECT_EQ(simulation.error().code, ErrorCode::limit_exceeded);
      if (simulation.error().offset == last) ++refused_at_last;
    }
  }
  EXPECT_GT(refused_at_last, 0);
  EXPECT_GT(waiting, 0);
}

TEST(Rerun, AnErrorStaysAtItsRequest) {
  Budget budget(1 << 20);
  model::Recording recording(budget);
  const auto script = read_script("m a 1\nend 0 1\n", recording);
  ASSERT_TRUE(script.has_value());
  const auto run = Rerun::start(script->requests, {}, 1 << 30, recording);
  ASSERT_TRUE(run.has_value());
  EXPECT_FALSE((*run)->run_to_end());
  EXPECT_EQ((*run)->at(), 1U);
  EXPECT_FALSE((*run)->step());
  EXPECT_FALSE(check_capacity(0));
  EXPECT_FALSE(check_capacity(kLargestDevice + 1));
}

}  // namespace
}  // namespace gpustrata::simulate
