// Open files: who shares one, when one is dropped, and how many there may be. The clock is the test's.
#include "engine/serve/sessions.h"

#include <gmock/gmock.h>

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

  // Opened and read to its end.
  [[nodiscard]] std::shared_ptr<OpenSession> opened(std::string_view name) {
    const auto found = sessions->open(name);
    if (!found) return nullptr;
    while ((*found)->is_reading()) (void)(*found)->reading();
    return *found;
  }
  [[nodiscard]] std::string refused(std::string_view name) {
    const auto found = sessions->open(name);
    return found ? "opened" : found.error().message;
  }
  [[nodiscard]] static std::string ask(OpenSession& session, std::string_view head, bool is_waiting = true) {
    const std::string frame = session::question_frame(head);
    std::string answer = "not answered";
    const bool is_answered = session.ask(
        std::as_bytes(std::span(frame)), [&] { return is_waiting; },
        [&](std::span<const std::byte> bytes) { answer = session::taken_apart(bytes).head; });
    return is_answered ? answer : "gone";
  }

  const ServedFolder folder;
  Files files;
  Limits limits;
  std::chrono::steady_clock::time_point now{seconds(5000)};
  std::optional<Sessions> sessions;
};

TEST_F(OpenedSessions, OneForEachFileWhoeverAsks) {
  const auto first = opened("a.json"), again = opened("a.json"), other = opened("b.json");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(first, again);
  EXPECT_NE(first->id(), other->id());
  EXPECT_EQ(first->clients, 2);
  EXPECT_EQ(first->name(), "a.json");
  EXPECT_EQ(sessions->count(), 2U);
  EXPECT_EQ(sessions->find(first->id()), first);
  EXPECT_EQ(sessions->find("no such id"), nullptr);
  EXPECT_FALSE(sessions->is_reading());
}

TEST_F(OpenedSessions, ReadToTheEndAndAsked) {
  const auto session = opened("a.json");
  ASSERT_NE(session, nullptr);
  const answers::Reading reading = session->reading();
  const auto size = static_cast<int64_t>(small_snapshot().size());
  EXPECT_TRUE(reading.is_ready);
  EXPECT_EQ(reading.bytes, size);
  EXPECT_EQ(reading.total, size);
  EXPECT_EQ(reading.events, 1);
  EXPECT_FALSE(reading.error.has_value());
  EXPECT_EQ(ask(*session, R"({"ask":"peaks","args":{}})"), R"({"answer":[[{"device":0,"bytes":1000}]]})");
  EXPECT_EQ(ask(*session, R"({"ask":"peaks","args":{}})", false), "gone");
}

TEST_F(OpenedSessions, AFileThatChangesIsAnotherOne) {
  const auto before = opened("a.json");
  folder.write("a.json", small_snapshot(2));
  const auto after = opened("a.json");
  ASSERT_NE(after, nullptr);
  EXPECT_NE(before->id(), after->id());
  EXPECT_EQ(after->reading().events, 2);
  EXPECT_EQ(sessions->find(before->id()), before);  // who looks at the old one goes on
}

TEST_F(OpenedSessions, DroppedWhenNobodyAskedForLongerThanIdle) {
  const auto session = opened("a.json");
  const std::string id = session->id();
  now += seconds(100);
  sessions->drop_idle();
  EXPECT_EQ(sessions->find(id), session);
  now += nanoseconds(1);
  sessions->drop_idle();
  EXPECT_EQ(sessions->find(id), nullptr);
  EXPECT_EQ(sessions->count(), 0U);
}

TEST_F(OpenedSessions, AQuestionOrALookKeepsOne) {
  const auto asked = opened("a.json"), looked_at = opened("b.json");
  now += seconds(90);
  (void)ask(*asked, R"({"ask":"contents"})");
  EXPECT_EQ(asked->unasked(), seconds(0));
  now += seconds(5);
  (void)looked_at->reading();
  now += seconds(95);
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 2U);
  now += seconds(6);  // 101 since the question, 101 since the look
  EXPECT_EQ(asked->unasked(), seconds(106));
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 0U);
}

TEST_F(OpenedSessions, OneThatIsBeingAskedStays) {
  const auto session = opened("a.json");
  ++session->asking;
  now += seconds(1000);
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 1U);
  --session->asking;
  sessions->drop_idle();
  EXPECT_EQ(sessions->count(), 0U);
}

TEST_F(OpenedSessions, OnlyTheIdleOnesAreDropped) {
  const auto early = opened("a.json");
  now += seconds(60);
  const auto late = opened("b.json");
  now += seconds(60);
  sessions->drop_idle();
  EXPECT_EQ(sessions->find(early->id()), nullptr);
  EXPECT_EQ(sessions->find(late->id()), late);
}

TEST_F(OpenedSessions, NoMoreThanTheirNumberWhileAllAreInUse) {
  const auto a = opened("a.json"), b = opened("b.json");
  EXPECT_THAT(refused("c.json"),
              HasSubstr("The server has as many files open as it may (2, 8.0 GiB of memory)."));
  EXPECT_EQ(refused("a.json"), "opened");  // it is open
  // Closed by who opened it: the next one takes its place.
  --b->clients;
  EXPECT_NE(opened("c.json"), nullptr);
  EXPECT_EQ(sessions->find(b->id()), nullptr);
  EXPECT_EQ(sessions->find(a->id()), a);
}

TEST_F(OpenedSessions, AskedNothingForAMinuteGivesWay) {
  const auto a = opened("a.json");
  now += seconds(1);
  const auto b = opened("b.json");
  now += seconds(58);
  EXPECT_THAT(refused("c.json"), HasSubstr("as many files open"));  // 59 s and 58 s
  now += seconds(1);
  EXPECT_EQ(refused("c.json"), "opened");  // 60 s: a goes
  EXPECT_EQ(sessions->find(a->id()), nullptr);
  EXPECT_EQ(sessions->find(b->id()), b);
}

TEST_F(OpenedSessions, TheOneAskedLongestAgoGivesWay) {
  const auto a = opened("a.json");
  now += seconds(1);
  const auto b = opened("b.json");
  now += seconds(1);
  (void)a->reading();
  --a->clients;
  --b->clients;
  now += seconds(1);
  EXPECT_EQ(refused("c.json"), "opened");
  EXPECT_EQ(sessions->find(a->id()), a);
  EXPECT_EQ(sessions->find(b->id()), nullptr);
}

TEST_F(OpenedSessions, OneThatIsBeingAskedDoesNotGiveWay) {
  const auto a = opened("a.json"), b = opened("b.json");
  --a->clients;
  --b->clients;
  ++a->asking;
  ++b->asking;
  now += seconds(1000);
  EXPECT_THAT(refused("c.json"), HasSubstr("as many files open"));
  --b->asking;
  EXPECT_EQ(refused("c.json"), "opened");
  EXPECT_EQ(sessions->find(a->id()), a);
  --a->asking;
}

TEST_F(OpenedSessions, WhatCannotBeReadSaysWhyAndIsTriedAnew) {
  const auto odd = opened("odd.json");
  ASSERT_NE(odd, nullptr);
  EXPECT_TRUE(odd->has_failed());
  EXPECT_FALSE(odd->reading().is_ready);
  ASSERT_TRUE(odd->reading().error.has_value());
  EXPECT_EQ(odd->reserved_bytes(), 0);
  EXPECT_EQ(ask(*odd, R"({"ask":"contents"})"), "gone");
  const auto again = opened("odd.json");
  ASSERT_NE(again, nullptr);
  EXPECT_NE(again, odd);
  // Those that failed are forgotten a minute after somebody looked.
  now += seconds(60);
  EXPECT_EQ(refused("nothing.json"), "nothing.json cannot be opened: there is no such file.");
  now += nanoseconds(1);
  EXPECT_NE(opened("a.json"), nullptr);
  EXPECT_EQ(sessions->count(), 1U);
}

TEST_F(OpenedSessions, AFileNeedsAtLeast64MiB) {
  limits.memory_bytes = (int64_t{64} << 20) - 1;
  make();
  EXPECT_THAT(refused("a.json"), HasSubstr("as many files open as it may (0, 64.0 MiB of memory)"));
  limits.memory_bytes = int64_t{64} << 20;
  make();
  EXPECT_EQ(refused("a.json"), "opened");
}

TEST_F(OpenedSessions, OneThatIsReadTakesItsTablesAQuarterMoreAnd64MiB) {
  folder.write("long.json", small_snapshot(20'000));
  // Its tables are as large wherever it is read.
  session::Session alone(int64_t{512} << 20);
  const auto file = files.open("long.json");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(read_file(*file, alone, [](const session::Session&) { return true; }));
  const int64_t tables = alone.progress().heap;
  EXPECT_GT(tables, 20'000 * 8);
  const auto session = opened("long.json");
  EXPECT_EQ(session->reserved_bytes(), tables + tables / 4 + (int64_t{64} << 20));
}

}  // namespace
}  // namespace gpustrata::serve
