// Open files: who shares one, when one is dropped, and how many there may be. The clock is the test's.
#include "engine/serve/sessions.h"

#include <gmock/gmock.h>

#include <utility>

#include "tests/unit/serve/journal_bytes.h"
#include "tests/unit/serve/served_folder.h"
#include "tests/unit/session/asking.h"

namespace gpustrata::serve {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class OpenedSessions : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a.json", "b.json", "c.json"}) folder.write(name, small_snapshot());
    folder.write("odd.json", "[]");
    auto found = Files::of({folder.path()});
    ASSERT_TRUE(found.has_value());
    files = std::move(*found);
    limits.most_sessions = 2;
    limits.idle = seconds(100);
    make();
  }
  void make() {
    sessions.emplace(files, limits, [this] { return now; });
  }

  // Opened and read to its end: the client's id.
  [[nodiscard]] std::string opened(std::string_view name) { return read(sessions->open(name)); }
  [[nodiscard]] std::string opened_again(std::string_view id) {
    const auto parent = sessions->find(id);
    return parent ? read(sessions->open_again(*parent)) : "no such client";
  }
  [[nodiscard]] static std::string read(const Result<std::shared_ptr<Client>>& client) {
    if (!client) return client.error().message;
    while ((*client)->file()->is_reading()) (void)(*client)->reading();
    return (*client)->id();
  }
  [[nodiscard]] bool is_there(std::string_view id) { return sessions->find(id) != nullptr; }
  // The file of a client; not to be kept where that would keep it from being dropped.
  [[nodiscard]] OpenSession& file_of(std::string_view id) { return *sessions->find(id)->file(); }
  [[nodiscard]] std::string ask(std::string_view id, std::string_view head, bool is_waiting = true,
                                bool has_memory = true) {
    const auto client = sessions->find(id);
    if (!client) return "no such client";
    const std::string frame = session::question_frame(head);
    std::string answer = "not answered";
    const bool is_answered = client->ask(
        std::as_bytes(std::span(frame)), [&] { return is_waiting; },
        [&](std::span<const std::byte> bytes) {
          answer = session::taken_apart(bytes).head;
          return std::exchange(has_memory, true);
        });
    return is_answered ? answer : "gone";
  }

  static constexpr std::string_view kOpen =
      R"({"ask":"open","args":{"snapshot":0,"device":0,"bands":"blocks"}})";

  const ServedFolder folder;
  Files files;
  Limits limits;
  std::chrono::steady_clock::time_point now{seconds(5000)};
  std::optional<Sessions> sessions;
};

TEST_F(OpenedSessions, OneForEachFileAndAClientForEachWhoOpensIt) {
  const std::string first = opened("a.json"), again = opened("a.json"), other = opened("b.json");
  EXPECT_NE(first, again);
  EXPECT_EQ(&file_of(first), &file_of(again));
  EXPECT_NE(&file_of(first), &file_of(other));
  EXPECT_EQ(file_of(first).name(), "a.json");
  EXPECT_EQ(sessions->count(), 2U);
  EXPECT_FALSE(is_there("no such id"));
  EXPECT_FALSE(sessions->is_reading());
}

TEST_F(OpenedSessions, ReadToTheEndAndAsked) {
  const std::string id = opened("a.json");
  const answers::Reading reading = sessions->find(id)->reading();
  const auto size = static_cast<int64_t>(small_snapshot().size());
  EXPECT_TRUE(reading.is_ready);
  EXPECT_EQ(reading.bytes, size);
  EXPECT_EQ(reading.total, size);
  EXPECT_EQ(reading.events, 1);
  EXPECT_FALSE(reading.error.has_value());
  EXPECT_EQ(ask(id, R"({"ask":"peaks","args":{}})"), R"({"answer":[[{"device":0,"bytes":1000}]]})");
  EXPECT_EQ(ask(id, R"({"ask":"peaks","args":{}})", false), "gone");
}

TEST_F(OpenedSessions, AnAnswerThatCannotBeTakenIsRefusedInWords) {
  const std::string id = opened("a.json");
  EXPECT_THAT(ask(id, R"({"ask":"contents"})", true, false),
              testing::AllOf(HasSubstr("limit_exceeded"), HasSubstr("no memory left for this answer")));
}

TEST_F(OpenedSessions, ViewsAreOfTheClientThatOpensThem) {
  const std::string first = opened("a.json"), second = opened("a.json");
  for (int i = 0; i < 64; ++i) EXPECT_THAT(ask(first, kOpen), HasSubstr("\"id\":"));
  EXPECT_THAT(ask(first, kOpen), HasSubstr("64 views are open"));
  EXPECT_THAT(ask(second, kOpen), HasSubstr("\"id\":1,"));
  EXPECT_THAT(ask(second, R"({"ask":"release","view":1,"args":{}})"), HasSubstr("null"));
  EXPECT_THAT(ask(first, R"({"ask":"highest","view":1,"args":{"columns":)"
                         R"({"axis":"event","first":0,"width":1,"count":1}}})"),
              HasSubstr("1000"));
}

TEST_F(OpenedSessions, ViewsGoWithTheirClient) {
  const std::string first = opened("a.json"), second = opened("a.json");
  (void)ask(first, R"({"ask":"contents"})");
  const int64_t before = sessions->all().used();
  (void)ask(second, kOpen);
  EXPECT_GT(sessions->all().used(), before);
  EXPECT_TRUE(sessions->close(second));
  EXPECT_EQ(sessions->all().used(), before);
  EXPECT_FALSE(sessions->close(second));  // nor does that close anybody else
  EXPECT_TRUE(is_there(first));
  EXPECT_EQ(sessions->count(), 1U);
}

// Requests of a run need segments that grow: those of the file below are 2 MiB, its block 1000 bytes.
TEST_F(OpenedSessions, RunsAreOfWhoHadTheFileOpenedAgain) {
  folder.write("run.json",
               R"({"segments":[{"device":0,"address":2097152,"total_size":2097152,"stream":0,"blocks":[)"
               R"({"size":1024,"requested_size":1000,"state":"active_allocated"},)"
               R"({"size":2096128,"state":"inactive"}]}],"device_traces":[[)"
               R"({"action":"segment_alloc","addr":2097152,"size":2097152,"stream":0,"frames":[]},)"
               R"({"action":"alloc","addr":2097152,"size":1000,"stream":0,"frames":[]}]]})");
  limits.most_sessions = 4;
  make();
  constexpr std::string_view kRun = R"({"ask":"addRun","view":1,"args":{"scenario":{}}})";
  const std::string first = opened("run.json");
  (void)ask(first, kOpen);
  EXPECT_THAT(ask(first, kRun), HasSubstr("opened again for runs of your own"));
  const std::string before = ask(first, R"({"ask":"contents"})");
  const std::string own = opened_again(first);
  EXPECT_NE(&file_of(own), &file_of(first));
  (void)ask(own, kOpen);
  EXPECT_EQ(ask(own, kRun), R"({"answer":1})");
  EXPECT_NE(ask(own, R"({"ask":"contents"})"), before);
  EXPECT_EQ(ask(first, R"({"ask":"contents"})"), before);
  EXPECT_EQ(ask(opened("run.json"), R"({"ask":"contents"})"), before);
  EXPECT_TRUE(sessions->close(own));
  EXPECT_EQ(sessions->count(), 1U);
}

TEST_F(OpenedSessions, WhatIsOpenedAgainTakesHalfOfThePlacesAtMost) {
  limits.most_sessions = 5;
  make();
  const std::string first = opened("a.json"), second = opened("b.json");
  const std::string own = opened_again(first);
  EXPECT_TRUE(is_there(opened_again(second)));
  EXPECT_THAT(opened_again(second), HasSubstr("2 of 5 open files"));
  EXPECT_TRUE(is_there(opened("c.json")));  // the fifth
  EXPECT_TRUE(sessions->close(own));
  const std::string last = opened_again(second);
  EXPECT_TRUE(is_there(last));
  // One that asked nothing for a minute gives way.
  now += seconds(60);
  EXPECT_TRUE(is_there(opened_again(first)));
  EXPECT_EQ(sessions->count(), 5U);
}

TEST_F(OpenedSessions, AClientHasAFileOpenedAgainFourTimesAtMost) {
  limits.most_sessions = 20;
  make();
  const std::string first = opened("a.json"), second = opened("a.json");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(is_there(opened_again(first))) << i;
  EXPECT_THAT(opened_again(first), HasSubstr("4 runs of this file are open"));
  EXPECT_TRUE(is_there(opened_again(second)));
  folder.write("a.json", small_snapshot(2));
  EXPECT_THAT(opened_again(second), HasSubstr("has changed since it was read"));
}

TEST_F(OpenedSessions, AFileThatChangesIsAnotherOne) {
  const std::string before = opened("a.json");
  folder.write("a.json", small_snapshot(2));
  const std::string after = opened("a.json");
  EXPECT_NE(&file_of(before), &file_of(after));
  EXPECT_EQ(file_of(after).reading().events, 2);
  EXPECT_TRUE(is_there(before));  // who looks at the old one goes on
}

TEST_F(OpenedSessions, DroppedWhenNobodyAskedForLongerThanIdle) {
  const std::string id = opened("a.json");
  now += seconds(100);
  sessions->drop_idle();
  EXPECT_TRUE(is_there(id));
  now += nanoseconds(1);
  sessions->drop_idle();
  EXPECT_FALSE(is_there(id));
  EXPECT_EQ(sessions->count(), 0U);
}

TEST_F(OpenedSessions, AClientThatAsksKeepsTheFileAndNotTheOthers) {
  const std::string asks = opened("a.json"), sleeps = opened("a.json");
  now += seconds(90);
  (void)ask(asks, R"({"ask":"contents"})");
  now += seconds(11);
  sessions->drop_idle();
  EXPECT_TRUE(is_there(asks));
  EXPECT_FALSE(is_there(sleeps));
  // A file without clients stays as long, for whoever opens it next; one that was opened again does not.
  const std::string own = opened_again(asks);
  EXPECT_TRUE(sessions->close(asks));
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 2U);
  EXPECT_TRUE(sessions->close(own));
  EXPECT_EQ(sessions->count(), 1U);
}

TEST_F(OpenedSessions, AQuestionOrALookKeepsOne) {
  const std::string asked = opened("a.json"), looked_at = opened("b.json");
  now += seconds(90);
  (void)ask(asked, R"({"ask":"contents"})");
  EXPECT_EQ(file_of(asked).unasked(), seconds(0));
  now += seconds(5);
  (void)sessions->find(looked_at)->reading();
  now += seconds(95);
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 2U);
  now += seconds(6);  // 106 since the question, 101 since the look
  EXPECT_EQ(file_of(asked).unasked(), seconds(106));
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 0U);
}

TEST_F(OpenedSessions, OneThatIsBeingAskedStays) {
  auto asking = sessions->find(opened("a.json"));
  now += seconds(1000);
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 1U);
  asking.reset();
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 0U);
}

TEST_F(OpenedSessions, OnlyTheIdleOnesAreDropped) {
  const std::string early = opened("a.json");
  now += seconds(60);
  const std::string late = opened("b.json");
  now += seconds(60);
  sessions->drop_idle();
  EXPECT_FALSE(is_there(early));
  EXPECT_TRUE(is_there(late));
}

TEST_F(OpenedSessions, NoMoreThanTheirNumberWhileAllAreInUse) {
  const std::string a = opened("a.json"), b = opened("b.json");
  EXPECT_THAT(opened("c.json"),
              HasSubstr("The server has as many files open as it may (2, 8.0 GiB of memory)."));
  EXPECT_TRUE(is_there(opened("a.json")));  // it is open
  // Closed by who opened it: the next one takes its place.
  EXPECT_TRUE(sessions->close(b));
  EXPECT_TRUE(is_there(opened("c.json")));
  EXPECT_TRUE(is_there(a));
}

TEST_F(OpenedSessions, AskedNothingForAMinuteGivesWay) {
  const std::string a = opened("a.json");
  now += seconds(1);
  const std::string b = opened("b.json");
  now += seconds(58);
  EXPECT_THAT(opened("c.json"), HasSubstr("as many files open"));  // 59 s and 58 s
  now += seconds(1);
  EXPECT_TRUE(is_there(opened("c.json")));  // 60 s: a goes
  EXPECT_FALSE(is_there(a));
  EXPECT_TRUE(is_there(b));
}

TEST_F(OpenedSessions, TheOneAskedLongestAgoGivesWay) {
  const std::string a = opened("a.json");
  now += seconds(1);
  const std::string b = opened("b.json");
  now += seconds(1);
  (void)sessions->find(a)->reading();
  now += seconds(60);
  EXPECT_TRUE(is_there(opened("c.json")));
  EXPECT_TRUE(is_there(a));
  EXPECT_FALSE(is_there(b));
}

TEST_F(OpenedSessions, OneThatIsBeingAskedDoesNotGiveWay) {
  const auto a = sessions->find(opened("a.json"));
  auto b = sessions->find(opened("b.json"));
  now += seconds(1000);
  EXPECT_THAT(opened("c.json"), HasSubstr("as many files open"));
  b.reset();
  EXPECT_TRUE(is_there(opened("c.json")));
  EXPECT_TRUE(is_there(a->id()));
}

TEST_F(OpenedSessions, WhatCannotBeReadSaysWhyAndIsTriedAnew) {
  const std::string odd = opened("odd.json");
  EXPECT_TRUE(file_of(odd).has_failed());
  EXPECT_FALSE(file_of(odd).reading().is_ready);
  EXPECT_TRUE(file_of(odd).reading().error.has_value());
  EXPECT_EQ(file_of(odd).expected_bytes(), 0);
  EXPECT_EQ(ask(odd, R"({"ask":"contents"})"), "gone");
  EXPECT_NE(&file_of(opened("odd.json")), &file_of(odd));
  // Those that failed are forgotten a minute after somebody looked.
  now += seconds(60);
  EXPECT_EQ(opened("nothing.json"), "nothing.json cannot be opened: there is no such file.");
  now += nanoseconds(1);
  EXPECT_TRUE(is_there(opened("a.json")));
  EXPECT_EQ(sessions->count(), 1U);
}

TEST_F(OpenedSessions, AFileNeedsAtLeast64MiB) {
  limits.memory_bytes = (int64_t{64} << 20) - 1;
  make();
  EXPECT_THAT(opened("a.json"), HasSubstr("as many files open as it may (0, 64.0 MiB of memory)"));
  limits.memory_bytes = int64_t{64} << 20;
  make();
  EXPECT_TRUE(is_there(opened("a.json")));
}

TEST_F(OpenedSessions, OneThatIsReadMayTakeAQuarterOfItsTablesMoreAnd64MiB) {
  folder.write("long.json", small_snapshot(20'000));
  // Its tables are as large wherever it is read.
  session::Session alone(int64_t{512} << 20);
  const auto file = files.open("long.json");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(read_file(*file, alone, [](const session::Session&) { return true; }));
  const int64_t tables = alone.progress().heap;
  EXPECT_GT(tables, 20'000 * 8);
  EXPECT_EQ(file_of(opened("long.json")).expected_bytes(), tables / 4 + (int64_t{64} << 20));
}

TEST_F(OpenedSessions, OneThatIsReadMayTakeAQuarterMoreAnd64MiB) {
  const std::string id = opened("a.json");
  // Tables of one event are far below a MiB.
  EXPECT_GE(file_of(id).expected_bytes(), int64_t{64} << 20);
  EXPECT_LT(file_of(id).expected_bytes(), int64_t{65} << 20);
  EXPECT_GT(sessions->all().used(), 0);
  EXPECT_LT(sessions->all().used(), int64_t{1} << 20);
}

// A picture has 4 bytes a pixel: 8192 times 4096 take 128 MiB, which one of 100 MiB for all does not have.
TEST_F(OpenedSessions, AllFilesTogetherTakeNoMoreThanTheyMay) {
  limits.memory_bytes = int64_t{100} << 20;
  make();
  const std::string id = opened("a.json");
  (void)ask(id, kOpen);
  const auto picture = [&](int width) {
    return ask(
        id,
        R"({"ask":"picture","view":1,"args":{"columns":{"axis":"event","first":0,"width":1,"count":)" +
            std::to_string(width) +
            R"(},"rows":{"bottom":0,"bytesPerRow":1,"count":4096},"look":{"palette":{"bands":[255],)"
            R"("nothing":0,"dimmedTowards":0,"envelope":0},"colourBy":"allocation","filter":"","kind":-1}}})");
  };
  EXPECT_THAT(picture(8192), HasSubstr("limit_exceeded"));
  EXPECT_THAT(picture(256), testing::Not(HasSubstr("error")));  // 4 MiB
  // What others take counts, too.
  EXPECT_THAT(picture(1024), testing::Not(HasSubstr("error")));  // 16 MiB
  const int64_t others = limits.memory_bytes - sessions->all().used() - (int64_t{1} << 20);
  ASSERT_TRUE(sessions->all().take(others));
  EXPECT_THAT(picture(1280), HasSubstr("limit_exceeded"));
  sessions->all().give_back(others);
  EXPECT_THAT(picture(1280), testing::Not(HasSubstr("error")));
}

TEST_F(OpenedSessions, WhatWasReadOfAJournalBeingWrittenGoesWithItsLastClient) {
  JournalBytes journal;
  folder.write("run.gpustrata", journal.text());
  const std::string one = opened("run.gpustrata"), other = opened("run.gpustrata");
  EXPECT_EQ(sessions->count(), 1U);
  EXPECT_TRUE(sessions->close(one));
  EXPECT_EQ(sessions->count(), 1U);
  EXPECT_TRUE(sessions->close(other));
  EXPECT_EQ(sessions->count(), 0U);

  journal.closed = 1;
  folder.write("run.gpustrata", journal.text());
  EXPECT_TRUE(sessions->close(opened("run.gpustrata")));
  EXPECT_EQ(sessions->count(), 1U);
}

TEST_F(OpenedSessions, TellHowFarAJournalWasWrittenWhenItWasRead) {
  JournalBytes journal;
  folder.write("run.gpustrata", journal.text());
  const auto client = sessions->open("run.gpustrata");
  ASSERT_TRUE(client.has_value());
  (void)read(client);
  const auto told = (*client)->reading().journal;
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->position, 0);
  EXPECT_EQ(told->events, 0);
  EXPECT_EQ(told->started_us, 5000);
  EXPECT_FALSE((*sessions->open("a.json"))->reading().journal.has_value());
}

}  // namespace
}  // namespace gpustrata::serve
