// The snapshot reader on files that end early, are damaged, or were made to hurt.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/io/limits.h"
#include "engine/io/readers/snapshot/torch_snapshot.h"
#include "engine/replay/block_lives.h"
#include "tests/unit/io/check_recording.h"
#include "tests/unit/io/py.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/processor_limit.h"
#include "tests/unit/sanitized.h"

namespace gpustrata::tests {
namespace {

using model::Diag;
using model::Owner;
using namespace std::string_literals;

Py stack() {
  return Py::list({Py::dict({{"name", "f"}, {"filename", "a.py"}, {"line", 1}}),
                   Py::dict({{"name", "g"}, {"filename", "b.py"}, {"line", 2}})});
}

Py noted_event(int i) {
  return Py::dict({{"action", "alloc"},
                   {"addr", i},
                   {"size", 8},
                   {"stream", 0},
                   {"pool_id", Py::tuple({0, 0})},
                   {"note", i},
                   {"frames", stack()}});
}

Py sample() {
  const Py block = Py::dict({{"address", 4096},
                             {"size", 512},
                             {"requested_size", 500},
                             {"state", "active_allocated"},
                             {"frames", stack()}});
  const Py rest = Py::dict({{"address", 4608},
                            {"size", 512},
                            {"requested_size", 0},
                            {"state", "inactive"},
                            {"frames", Py::list({})}});
  const Py segment = Py::dict({{"device", 0},
                               {"address", 4096},
                               {"total_size", 1024},
                               {"stream", 0},
                               {"segment_pool_id", Py::tuple({0, 0})},
                               {"frames", Py::list({})},
                               {"blocks", Py::list({block, rest})}});
  return Py::dict(
      {{"segments", Py::list({segment, segment.with("address", 8192).with("blocks", Py::list({}))})},
       {"device_traces", Py::list({Py::list({}), Py::list({noted_event(1), noted_event(2), noted_event(3)}),
                                   Py::list({noted_event(4)})})},
       {"allocator_settings", Py::dict({{"max_split_size", -1}, {"more", Py::dict({{"1", 0}})}})},
       {"external_annotations",
        Py::list({Py::dict({{"name", "a"}, {"stage", "START"}, {"device", 0}, {"time_us", 1}})})}});
}

// What was read before the memory was used up can also be shown: its timeline fits.
TEST(FileLargerThanTheMemory, LeavesRoomForTheTimelineOfWhatWasRead) {
  std::vector<Py> events;
  for (int i = 0; i < 120'000; ++i) {
    events.push_back(Py::dict({{"action", i % 2 == 0 ? "alloc" : "free_completed"},
                               {"addr", int64_t{4096} * (i / 2)},
                               {"size", 512},
                               {"stream", 0},
                               {"frames", Py::list({})}}));
  }
  const std::string bytes = pickled(Py::dict({{"device_traces", Py::list({Py::list(std::move(events))})}}));
  for (const bool plain : {false, true}) {
    ReadOptions options;
    options.limit = int64_t{8} << 20;  // a third of what is needed
    options.plain = plain;
    const auto file = read_bytes(bytes, options);
    ASSERT_TRUE(file->status);
    EXPECT_EQ(file->count(Diag::budget_exhausted), 1);
    EXPECT_THAT(file->recording.diagnostics[Diag::budget_exhausted].detail,
                testing::HasSubstr("would be enough"));
    EXPECT_GT(file->recording.events.size_rows(), 10'000U);
    EXPECT_LT(file->recording.events.size_rows(), 120'000U);
    const auto lifetimes = replay::find_block_lives(file->recording, file->recording.parts[0], 0);
    ASSERT_TRUE(lifetimes) << lifetimes.error().message;
    EXPECT_EQ(lifetimes->count(), static_cast<int32_t>((file->recording.events.size_rows() + 1) / 2));
  }
}

// -- Truncation.

TEST(TruncatedFile, IsReadUpToItsEndWhereverThatIs) {
  for (const Writer writer : kAllWriters) {
    const std::string bytes = pickled(sample(), writer);
    // Sanitized, each writer has other places of the seven.
    for (size_t length = kSanitized ? static_cast<size_t>(writer) : 0; length < bytes.size();
         length += kSanitized ? 7 : 1) {
      const auto file = read_bytes(std::string_view(bytes).substr(0, length));
      if (!file->status) {
        EXPECT_EQ(file->status.error().code, ErrorCode::truncated);
        EXPECT_EQ(file->status.error().offset, static_cast<int64_t>(length));
        continue;
      }
      EXPECT_EQ(file->count(Diag::truncated), 1);
      EXPECT_EQ(file->recording.diagnostics[Diag::truncated].first_offset, static_cast<int64_t>(length));
      EXPECT_EQ(problem_of(file->recording), "");
      // A cut never invents or doubles anything.
      EXPECT_LE(file->recording.events.size_rows(), 4U);
      EXPECT_LE(file->recording.segments.size_rows(), 2U);
      EXPECT_EQ(file->recording.parts.size(), 1U);
      for (size_t row = 0; row < file->recording.events.size_rows(); ++row) {
        EXPECT_FALSE(file->recording.events.stack[row].is_none());  // no half event
      }
    }
  }
}

TEST(TruncatedFile, KeepsAllEventsBeforeItsEnd) {
  for (const Writer writer : kAllWriters) {
    const std::string bytes = pickled(sample(), writer);
    const size_t settings = bytes.find("allocator_settings");
    ASSERT_NE(settings, std::string::npos);
    const auto file = read_bytes(std::string_view(bytes).substr(0, settings));
    ASSERT_TRUE(file->status);
    const model::Part& part = file->recording.parts[0];
    EXPECT_EQ(part.segments.count, 2) << "writer " << static_cast<int>(writer);
    EXPECT_EQ(part.events_of(0).count, 0);
    EXPECT_EQ(part.events_of(1).count, 3);
    EXPECT_EQ(part.events_of(2).count, 1);
  }
}

TEST(TruncatedFile, KeepsTheBlocksOfTheSegmentItEndsIn) {
  for (const Writer writer : kAllWriters) {
    const std::string bytes = pickled(sample(), writer);
    const size_t state = bytes.find("inactive");
    const auto file = read_bytes(std::string_view(bytes).substr(0, state));
    ASSERT_TRUE(file->status) << "writer " << static_cast<int>(writer);
    ASSERT_EQ(file->recording.segments.size_rows(), 1U);
    EXPECT_EQ(file->recording.segments.blocks[0].count, 1);
    EXPECT_EQ(file->recording.segments.total_size[0], 1024);
  }
}

TEST(TruncatedFile, InsideALongStringIsTruncated) {
  const std::string bytes = pickled(sample().with("note", std::string(100000, 'n')));
  for (const bool tell_size : {true, false}) {
    const auto file =
        read_bytes(std::string_view(bytes).substr(0, bytes.size() - 50000), {.tell_size = tell_size});
    ASSERT_TRUE(file->status);
    EXPECT_EQ(file->count(Diag::truncated), 1);
    EXPECT_EQ(file->recording.events.size_rows(), 4U);
  }
}

TEST(TruncatedFile, WithNothingToShowIsAnErrorInWords) {
  const auto file = read_bytes("\x80\x04}\x94(\x8c\x08segm");
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::truncated);
  EXPECT_EQ(file->status.error().message,
            "the input ends before the pickle does, and nothing of a memory snapshot came before it");
  EXPECT_EQ(file->status.error().offset, 11);
}

// -- Damage.

TEST(DamagedFile, IsReadUpToTheDamage) {
  std::string bytes = pickled(sample());
  bytes[bytes.find("allocator_settings") - 2] = '\xff';
  const auto file = read_bytes(bytes);
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::damaged), 1);
  EXPECT_EQ(file->recording.events.size_rows(), 4U);
}

TEST(DamagedFile, AnyFlippedByteIsSurvived) {
  std::mt19937 random(1);
  for (const Writer writer : kAllWriters) {
    const std::string good = pickled(sample(), writer);
    for (int round = 0; round < (kSanitized ? 400 / 7 : 400); ++round) {
      std::string bytes = good;
      const int flips = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < flips; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 4 == 0) bytes.resize(random() % bytes.size());
      const auto file = read_bytes(
          bytes, {.chunk = random() % 2 == 0 ? size_t{0} : 1 + random() % 100, .limit = int64_t{8} << 20});
      if (file->status) {
        EXPECT_EQ(problem_of(file->recording), "")
            << "writer " << static_cast<int>(writer) << " round " << round;
      }
      EXPECT_LE(file->budget.used(), file->budget.limit());
    }
  }
}

TEST(DamagedFile, RandomOpcodesAreSurvived) {
  std::mt19937 random(2);
  const std::string opcodes =
      "(.012NKJMjhqrl]}aesudtbcR\x80\x81\x85\x86\x87\x88\x89\x8a\x8c\x8f\x90\x91\x92\x93\x94\x95"s;
  for (int round = 0; round < (kSanitized ? 3000 / 7 : 3000); ++round) {
    std::string bytes = "\x80\x04}\x94(\x8c\x08segments\x94]\x94(}\x94("s;
    const size_t length = random() % 200;
    for (size_t i = 0; i < length; ++i)
      bytes += random() % 3 == 0 ? static_cast<char>(random() % 8) : opcodes[random() % opcodes.size()];
    const auto file = read_bytes(bytes, {.limit = int64_t{4} << 20});
    if (file->status) {
      EXPECT_EQ(problem_of(file->recording), "") << "round " << round;
    }
  }
}

// -- Budget.

TEST(SmallBudget, KeepsWhatWasReadAndTellsWhatWouldSuffice) {
  std::vector<Py> events;
  events.reserve(50000);
  for (int i = 0; i < 50000; ++i)
    events.push_back(Py::dict({{"action", "alloc"},
                               {"addr", i},
                               {"size", 8},
                               {"stream", 0},
                               {"user_metadata", fmt::format("event {}", i)}}));
  const Py value = Py::dict({{"segments", Py::list({})}, {"device_traces", Py::list({Py::list(events)})}});
  for (const Writer writer : {Writer::protocol4, Writer::cpp, Writer::protocol0}) {
    const auto file = read_bytes(pickled(value, writer), {.limit = int64_t{3} << 20});
    ASSERT_TRUE(file->status) << file->status.error().message;
    EXPECT_EQ(file->count(Diag::budget_exhausted), 1);
    const int32_t kept = file->recording.parts[0].events_of(0).count;
    EXPECT_GT(kept, 5000);
    EXPECT_LT(kept, 50000);
    EXPECT_EQ(problem_of(file->recording), "");
    EXPECT_LE(file->budget.used(), file->budget.limit());
    EXPECT_NE(file->recording.diagnostics[Diag::budget_exhausted].detail.find("3.0 MiB are allowed, about"),
              std::string::npos);
  }
}

TEST(SmallBudget, TooSmallForAnythingIsAnError) {
  const std::string bytes = pickled(sample());
  for (const int64_t limit : {0, 1000, 100000, 300000, 600000}) {
    const auto file = read_bytes(bytes, {.limit = limit});
    ASSERT_FALSE(file->status) << limit;
    EXPECT_EQ(file->status.error().code, ErrorCode::limit_exceeded) << limit;
  }
  EXPECT_TRUE(read_bytes(bytes, {.limit = int64_t{8} << 20})->status);
}

TEST(SmallBudget, ATenthMoreThanWasRefusedIsSaidToBeEnough) {
  ReadFile file(1000);
  file.budget.note_refusal(int64_t{100} << 20);
  const auto reader = io::torch_snapshot_reader(file.recording);
  const std::string bytes = pickled(sample());
  Status status = io::push(*reader, std::as_bytes(std::span(bytes)));
  if (status) status = reader->finish();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              testing::HasSubstr("1000 B are allowed, about 110.0 MiB would be enough"));
}

// -- Files made to hurt. Each is small; reading it must be quick and must not need much memory.

struct Bomb {
  const char* name;
  std::string bytes;
};

std::vector<Bomb> bombs() {
  const std::string head = "\x80\x04}(\x8c\x08segments]\x8c\x01v"s;
  std::vector<Bomb> all;
  all.push_back({"a string of 2^63 bytes", head + "\x8d" + u64(uint64_t{1} << 63)});
  all.push_back({"a string of 4 GB", head + "X\xff\xff\xff\xff" + "abc"});
  all.push_back({"a number of 2 GB", head + "\x8b" + u32(0x7fffffff)});
  all.push_back({"lists in lists, no marks", head + std::string(1000000, ']')});
  std::string nested = head;
  for (int i = 0; i < 1000000; ++i) nested += "](";
  all.push_back({"lists in lists, with marks", nested});
  std::string dicts = head;
  for (int i = 0; i < 500000; ++i) dicts += "}K\1";
  all.push_back({"dicts in dicts", dicts});
  std::string closed = head + std::string(500000, ']') + std::string(499999, 'a') + "u.";
  all.push_back({"lists in lists, complete", closed});
  all.push_back({"marks only", head + std::string(2000000, '(')});
  std::string tuples = head + "N" + std::string(1000000, '\x85') + "u.";
  all.push_back({"tuples in tuples", tuples});
  std::string laughs = head + "\x8c\x03lol\x94";
  for (char level = 0; level < 60; ++level) {
    laughs += "](";
    for (int i = 0; i < 10; ++i) laughs += {'h', level};
    laughs += "e\x94";
  }
  all.push_back({"billion laughs", laughs + "u."});
  // Half a million references to a text of 64 KiB.
  std::string wide = head + "](X" + u32(65000) + std::string(65000, 'w') + "\x94";
  for (int i = 0; i < 500000; ++i) wide += "]h\0a"s;
  all.push_back({"a long text in many lists", wide + "eu."});
  std::string sparse = head;
  for (uint32_t slot = 0; slot < 60000; ++slot) sparse += "Nr" + u32(slot * 70000ULL);
  all.push_back({"memo slots far apart", sparse});
  std::string items = head + "](";
  for (int i = 0; i < 3000000; ++i) items += "K\1";
  all.push_back({"a list of millions of numbers under one mark", items + "eu."});
  std::string pairs = head + "}(";
  for (uint32_t i = 0; i < 500000; ++i) pairs += "J" + u32(i) + "N";
  all.push_back({"a dict of half a million keys", pairs + "uu."});
  std::string copies = head +
                       "](}(\x8c\x06"
                       "actionN\x8c\x01xNu}(\x8c\x06"
                       "action\x8c\x05"
                       "alloc\x8c\x04"
                       "addrK\1\x8c\x04sizeK\1u\x94";
  for (int i = 0; i < 500000; ++i) copies += "h\0"s;
  all.push_back({"half a million references to one event", copies + "eu."});
  std::string wrapped = "\x80\x04}(\x8c\x08segments]u\x94";
  for (int i = 0; i < 300000; ++i) wrapped += "\x85";
  all.push_back({"a snapshot in a deep wrapper", wrapped + "."});
  std::string twins = "\x80\x04}(\x8c\x08segments]u\x94";
  for (char level = 0; level < 100; ++level) twins += "0h"s + level + "h" + level + "\x86\x94";
  all.push_back({"a snapshot in twin wrappers", twins + "."});
  all.push_back({"frames of objects", head + "c" + std::string(4000, 'm') + "\n" + std::string(10, 'n')});
  return all;
}

TEST(HostileFile, StaysSmallAndQuick) {
  for (const Bomb& bomb : bombs()) {
    for (const size_t chunk : {size_t{0}, size_t{1000}}) {
      const ProcessorLimit processor_limit;  // the bombs would take hours
      const auto file =
          read_bytes(bomb.bytes, {.chunk = chunk, .limit = int64_t{128} << 20, .tell_size = chunk == 0});
      if (file->status) {
        EXPECT_EQ(problem_of(file->recording), "") << bomb.name;
      }
      EXPECT_LT(file->budget.used(), int64_t{40} << 20) << bomb.name;  // of what is kept
    }
  }
}

TEST(HostileFile, MembersBeyondTheLimitAreCutAndTold) {
  std::string bytes = "\x80\x04}(\x8c\x08segments]\x8c\x01v]("s;
  for (int i = 0; i < 200000; ++i) bytes += "K\1";
  const auto file = read_bytes(bytes + "eu.", {.limit = int64_t{8} << 20});
  ASSERT_TRUE(file->status);
  EXPECT_EQ(file->count(Diag::text_cut), 1);
  EXPECT_LE(file->extra(Owner::part, 0, "v").size(), io::kMaxTextBytes + 100);
}

// {"name":"","filename":"f","line":1} has 35 bytes, the bracket before it is one more.
TEST(HostileFile, AFrameIsWrittenBehindSixtyFourKibibytesAndNotBehindOneMore) {
  for (const size_t beyond : {0, 1}) {
    const std::string name((64 << 10) - 36 + beyond, 'x');
    const auto file =
        read(Py::dict({{"segments", Py::list({})},
                       {"v", Py::list({Py::dict({{"name", name}, {"filename", "f"}, {"line", 1}}),
                                       Py::dict({{"name", "last"}, {"filename", "f"}, {"line", 2}})})}}));
    EXPECT_EQ(file->count(Diag::text_cut), static_cast<int64_t>(beyond));
    EXPECT_EQ(file->extra(Owner::part, 0, "v").find("last") == std::string::npos, beyond == 1);
  }
}

TEST(HostileFile, LongStringsKeepTheirBeginning) {
  const std::string text(3 << 20, 's');
  for (const size_t chunk : {size_t{0}, size_t{100000}}) {
    const auto cut = read_bytes(
        pickled(Py::dict(
            {{"device_traces",
              Py::list({Py::list(
                  {Py::dict({{"action", "alloc"}, {"addr", 1}, {"size", 1}, {"user_metadata", text}})})})}})),
        {.chunk = chunk});
    ASSERT_TRUE(cut->status);
    EXPECT_EQ(cut->text(cut->recording.events.metadata[0]).size(), io::kKeptString);
    EXPECT_EQ(cut->count(Diag::long_string_cut), 1);
    EXPECT_EQ(cut->recording.diagnostics[Diag::long_string_cut].detail, "3145728 bytes");
  }
}

TEST(HostileFile, TextThatNestsTooDeeplyIsCutAndTold) {
  Py value = 1;
  for (int i = 0; i < 100; ++i) value = Py::list({value, "x"});
  const auto file = read(Py::dict({{"segments", Py::list({})}, {"v", value}}));
  EXPECT_GT(file->count(Diag::text_cut), 0);
  EXPECT_LT(file->extra(Owner::part, 0, "v").size(), 300U);
}

}  // namespace
}  // namespace gpustrata::tests
