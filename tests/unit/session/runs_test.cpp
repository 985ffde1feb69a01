// What if, as a client asks it: numbers worked out by hand, runs that become snapshots of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "engine/io/writers/torch_snapshot.h"
#include "engine/simulate/simulation.h"
#include "tests/unit/answers/collected.h"
#include "tests/unit/session/asking.h"

namespace gpustrata::session {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A session that has read what a script leads to.
struct Opened {
  explicit Opened(std::string_view script, int64_t device = int64_t{1} << 34) {
    Budget budget(int64_t{1} << 28);
    const auto simulation = simulate::simulate(script, device, "", budget);
    answers::CollectedText pickle;
    EXPECT_TRUE(simulation && io::write_torch_snapshot(*simulation->recording, pickle, 0));
    for (std::string_view left = pickle.text; !left.empty();) {
      const auto room = session.writable();
      const size_t size = std::min(room.size(), left.size());
      std::memcpy(room.data(), left.data(), size);
      EXPECT_TRUE(session.commit(size));
      left.remove_prefix(size);
    }
    EXPECT_TRUE(session.finish());
    view = session.open_view(0, 0, Bands::blocks).value_or(0);
  }
  [[nodiscard]] std::string ask(std::string_view name, std::string_view args) {
    return asked(session, name, view, args);
  }
  Session session{int64_t{1} << 28};
  ViewId view = 0;
};

// Events: 0 segment_alloc of 30 MiB, 1 alloc a, 2 and 3 its free, 4 alloc c out of the same segment.
constexpr std::string_view kScript = "m a 31457280\nf a\nm c 20971520\n";

TEST(Runs, WhatIfTellsNumbersAndCurves) {
  Opened opened(kScript);
  const std::string head = R"({"ask":"whatIf","view":)" + std::to_string(opened.view) +
                           R"(,"args":{"scenario":{"emptyCacheAfter":[3]},"columns":5}})";
  const AnswerOf answer = asked_frame(opened.session, question_frame(head));
  EXPECT_THAT(answer.head, HasSubstr(R"("device_allocs":2,"device_frees":1)"));
  EXPECT_THAT(answer.head, HasSubstr(R"("end_reserved_bytes":20971520)"));
  constexpr double kMebibyte = 1 << 20;
  constexpr size_t kColumn = 5 * 8;
  EXPECT_EQ(answer.column<double>(0, 5), (std::vector<double>(5, 30 * kMebibyte)));
  EXPECT_EQ(answer.column<double>(kColumn, 5),
            (std::vector<double>{0, 30 * kMebibyte, 0, 0, 20 * kMebibyte}));
  // The run takes the segment together with a, and gives it back behind event 3, which is no request.
  EXPECT_EQ(answer.column<double>(2 * kColumn, 5),
            (std::vector<double>{0, 30 * kMebibyte, 30 * kMebibyte, 0, 20 * kMebibyte}));
}

TEST(Runs, SettingsAndFiltersAreRefusedAtTheirPlace) {
  Opened opened(kScript);
  EXPECT_THAT(
      opened.ask("whatIf", R"({"scenario":{"conf":"expandable_segments:True,nonsense:1"},"columns":0})"),
      testing::AllOf(HasSubstr("unknown key 'nonsense'"), HasSubstr(R"("offset":25,"inside":"conf")")));
  EXPECT_THAT(opened.ask("whatIf", R"({"scenario":{"conf":"max_split_size_mb:x"},"columns":0})"),
              HasSubstr(R"("offset":18,"inside":"conf")"));
  EXPECT_THAT(
      opened.ask("whatIf", R"({"scenario":{"changes":[{"filter":"size>>1","factor":0}]},"columns":0})"),
      HasSubstr(R"("inside":"changes")"));
  EXPECT_THAT(opened.ask("whatIf", R"({"scenario":{"extra":[{"after":1,"bytes":0}]},"columns":0})"),
              HasSubstr("one more request is of 1 to"));
}

TEST(Runs, ARunIsASnapshotOfTheFileAndViewsStay) {
  Opened opened(kScript);
  const std::string before =
      opened.ask("highest", R"({"columns":{"axis":"time","first":0,"width":1,"count":9}})");
  EXPECT_EQ(opened.ask("addRun", R"({"scenario":{"emptyCacheAfter":[3]}})"), R"({"answer":1})");
  EXPECT_EQ(opened.ask("highest", R"({"columns":{"axis":"time","first":0,"width":1,"count":9}})"), before);
  // segment_alloc, alloc, both events of the free, segment_free, segment_alloc, alloc.
  const ViewId run = opened.session.open_view(1, 0, Bands::blocks).value_or(0);
  ASSERT_NE(opened.session.view(run), nullptr);
  EXPECT_EQ(opened.session.view(run)->event_count(), 7);
  const auto event_of = [&](int event) {
    return opened.ask("eventOfRun", R"({"snapshot":1,"event":)" + std::to_string(event) + "}");
  };
  EXPECT_EQ(event_of(-1), R"({"answer":-1})");
  EXPECT_EQ(event_of(1), R"({"answer":1})");
  EXPECT_EQ(event_of(2), R"({"answer":3})");
  EXPECT_EQ(event_of(3), R"({"answer":4})");
  EXPECT_EQ(event_of(4), R"({"answer":6})");
  EXPECT_THAT(opened.ask("eventOfRun", R"({"snapshot":0,"event":1})"), HasSubstr("no run of this device"));
  // After event 1 both hold the one segment. After event 3 the recording keeps it empty, the run has none.
  EXPECT_EQ(opened.ask("stateDifferences", R"({"snapshot":1,"event":1})"),
            R"({"answer":{"pools":[{"pool":null,"small":false,)"
            R"("recorded":{"segments":1,"reserved":31457280,"used":31457280,"largest_free":0},)"
            R"("simulated":{"segments":1,"reserved":31457280,"used":31457280,"largest_free":0}}],)"
            R"("segments":[],"segments_left_out":0,"same_segments":1}})");
  EXPECT_THAT(
      opened.ask("stateDifferences", R"({"snapshot":1,"event":3})"),
      testing::AllOf(
          StartsWith(R"({"answer":{"pools":[{"pool":null,"small":false,)"
                     R"("recorded":{"segments":1,"reserved":31457280,"used":0,"largest_free":31457280},)"
                     R"("simulated":{"segments":0,"reserved":0,"used":0,"largest_free":0}}],)"
                     R"("segments":[{"address":"0x)"),
          testing::EndsWith(R"(","pool":null,"small":false,)"
                            R"("recorded":{"reserved":31457280,"used":0,"largest_free":31457280},)"
                            R"("simulated":null}],"segments_left_out":0,"same_segments":0}})")));
  EXPECT_THAT(opened.ask("addRun", R"({"scenario":{"caching":false}})"), HasSubstr("no segments"));
}

// a has 30 MiB, c has 20: of those above 25 MiB nothing is there after event 4, of all 20 MiB.
TEST(Runs, AViewOfSomeBlocksStaysOneOfThem) {
  Opened opened(kScript);
  const ViewId some = opened.session.open_view(0, 0, Bands::blocks, "size>25MiB").value_or(0);
  constexpr std::string_view kLast = R"({"columns":{"axis":"event","first":4,"width":1,"count":1}})";
  EXPECT_EQ(asked(opened.session, "highest", some, kLast), R"({"answer":0})");
  EXPECT_EQ(opened.ask("addRun", R"({"scenario":{}})"), R"({"answer":1})");
  EXPECT_EQ(asked(opened.session, "highest", some, kLast), R"({"answer":0})");
  EXPECT_EQ(opened.ask("highest", kLast), R"({"answer":20971520})");
}

TEST(Runs, ARunTakesThePlaceOfTheOneBeforeAndItsMemory) {
  Opened opened(kScript);
  const auto run = [&](std::string_view scenario) {
    EXPECT_EQ(opened.ask("addRun", "{\"scenario\":" + std::string(scenario) + "}"), R"({"answer":1})");
    return opened.session.open_view(1, 0, Bands::blocks).value_or(0);
  };
  const ViewId other = run(R"({"emptyCacheAfter":[3]})");
  const ViewId first = run("{}");
  EXPECT_EQ(opened.session.view(other), nullptr);
  EXPECT_EQ(opened.session.view(first)->event_count(), 5);
  const int64_t heap = opened.session.progress().heap;
  for (int i = 0; i < 20; ++i) (void)run("{}");
  EXPECT_EQ(opened.session.progress().heap, heap);
  EXPECT_EQ(opened.session.recording().parts.size(), 2U);
  EXPECT_NE(opened.session.view(opened.view), nullptr);
  const ViewId of_run = opened.session.open_view(1, 0, Bands::blocks).value_or(0);
  EXPECT_THAT(asked(opened.session, "addRun", of_run, R"({"scenario":{}})"), HasSubstr("this is a run"));
}

// 600 requests of 30 MiB, on a device of 20: each fails, with a text of its own. It is stopped at the 257th.
TEST(Runs, ARunThatFailsLeavesNothing) {
  std::string script;
  for (int i = 0; i < 300; ++i) script += "m a 31457280\nf a\n";
  Opened opened(script);
  (void)opened.ask("rehearsal", "{}");
  const model::Recording& recording = opened.session.recording();
  const size_t events = recording.events.size_rows(), texts = recording.strings.size();
  const int64_t heap = opened.session.progress().heap;
  analysis::Scenario scenario;
  scenario.capacity = int64_t{20} << 20;
  int asked_to_go_on = 0;
  const auto run =
      opened.session.add_run(opened.view, scenario, [&asked_to_go_on] { return ++asked_to_go_on < 2; });
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, HasSubstr("after 256 of 600 requests"));
  EXPECT_EQ(recording.parts.size(), 1U);
  EXPECT_EQ(recording.events.size_rows(), events);
  EXPECT_EQ(recording.strings.size(), texts);
  EXPECT_LE(opened.session.progress().heap, heap);
  EXPECT_THAT(opened.ask("eventOfRun", R"({"snapshot":1,"event":1})"), HasSubstr("no run of this device"));
  EXPECT_EQ(opened.ask("addRun", R"({"scenario":{}})"), R"({"answer":1})");
}

TEST(Runs, OneThatIsNotWaitedForAnyMoreEnds) {
  Opened opened(kScript);
  std::atomic<bool> stopped{false};
  opened.session.end_when(stopped);
  EXPECT_EQ(opened.ask("addRun", R"({"scenario":{}})"), R"({"answer":1})");
  stopped = true;
  EXPECT_THAT(opened.ask("addRun", R"({"scenario":{}})"), HasSubstr("the run was stopped"));
}

TEST(Runs, AreOfFilesWithOneClientOnly) {
  Opened opened(kScript);
  Session other(opened.session);
  EXPECT_THAT(opened.ask("addRun", R"({"scenario":{}})"), HasSubstr("others may ask about this file, too"));
  const ViewId view = other.open_view(0, 0, Bands::blocks).value_or(0);
  EXPECT_THAT(asked(other, "addRun", view, R"({"scenario":{}})"), HasSubstr("others may ask"));
  EXPECT_EQ(opened.session.recording().parts.size(), 1U);
}

// 200 MiB: 30 of the first segment's 80 MiB are in use, 60 of the second's; 40 are free on the device. 100 are asked for:
// 110 are there, in pieces. Pages of 20 MiB: 30 + 60 in use lie in 120, the last 30 of them free; 80 more make room.
TEST(Runs, ARemedyIsTried) {
  constexpr std::string_view kPieces =
      "m a 83886080\nf a\nm c 31457280\nm b 83886080\nf b\nm d 62914560\nm e 104857600\n";
  Opened opened(kPieces, int64_t{200} << 20);
  const std::string untried = opened.ask("report", "{}");
  EXPECT_THAT(untried, HasSubstr(R"("verdict":"fragmented")"));
  EXPECT_THAT(untried, testing::Not(HasSubstr(R"("confirmed":true)")));
  EXPECT_THAT(
      opened.ask("triedRemedies", "{}"),
      testing::AllOf(
          HasSubstr(R"("confirmed":true)"),
          HasSubstr(
              "the recorded requests fit, with at most 200.0 MiB reserved; whether the rest of the run fits is unknown")));
}

// Nothing failed: nothing is tried.
TEST(Runs, WithoutAFailureNothingIsTried) {
  EXPECT_EQ(Opened(kScript).ask("triedRemedies", "{}"), R"({"answer":[]})");
}

TEST(Runs, TheRehearsalComesBeforeAnythingIsChanged) {
  Opened opened(kScript);
  EXPECT_THAT(opened.ask("rehearsal", "{}"),
              StartsWith(R"({"answer":{"device":0,"conf":"","settings_are_known":true,"capacity":null,)"
                         R"("requests":3,"exact":true,)"));
  EXPECT_EQ(opened.ask("smallestCapacity", R"({"scenario":{}})"), R"({"answer":31457280})");
}

}  // namespace
}  // namespace gpustrata::session
