#include "engine/io/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/any_reader.h"
#include "tests/unit/io/read_file.h"
#include "tests/unit/io/snapshot_py.h"

namespace gpustrata::tests {
namespace {

using io::Format;
using io::Kind;
using io::tell;
using io::Told;
using testing::HasSubstr;
using namespace std::string_view_literals;

TEST(Registry, ASnapshotIsToldByItsFirstKeyInEveryProtocol) {
  for (const Writer writer : kAllWriters) {
    const std::string bytes = pickled(snapshot({}, {}), writer);
    const Told told = tell(Format::pickle, bytes);
    ASSERT_NE(told.kind, nullptr);
    EXPECT_EQ(told.kind->name, "a memory snapshot of PyTorch");
    EXPECT_EQ(told.offset, static_cast<int64_t>(bytes.find("segments"))) << static_cast<int>(writer);
  }
}

TEST(Registry, AnotherTextThatHoldsTheWordTellsNothing) {
  const Told told = tell(Format::pickle, pickled(Py::dict({{"my_segments", 1}, {"segments_of_it", 2}})));
  ASSERT_NE(told.kind, nullptr);
  EXPECT_EQ(told.offset, -1);
  EXPECT_THAT(told.reason, HasSubstr("taken for a memory snapshot of PyTorch"));
}

TEST(Registry, AKeyOfJsonTellsAtAnyDepth) {
  const Told told = tell(Format::json, R"({"rank0": {"note": "segments", "segments" : []}})");
  ASSERT_NE(told.kind, nullptr);
  EXPECT_EQ(told.reason, "the key \"segments\" at byte 32 tells a memory snapshot of PyTorch");
}

TEST(Registry, ATraceIsToldByItsOutermostKeyOnly) {
  const Told trace = tell(Format::json, R"({"schemaVersion": 1, "traceEvents": [{"ph": "X"}]})");
  ASSERT_NE(trace.kind, nullptr);
  EXPECT_EQ(trace.kind->name, "a trace of the PyTorch profiler");
  EXPECT_EQ(trace.offset, 22);
  EXPECT_EQ(tell(Format::json, R"([{"ph": "X"}])").kind, trace.kind);
  const Told inner = tell(Format::json, R"({"notes": {"traceEvents": 1}, "segments": []})");
  EXPECT_EQ(inner.kind->name, "a memory snapshot of PyTorch");
}

TEST(Registry, WhatComesFirstDecides) {
  EXPECT_EQ(tell(Format::json, R"({"segments": [], "traceEvents": []})").offset, 2);
  EXPECT_EQ(tell(Format::json, R"({"traceEvents": [], "segments": []})").kind->name,
            "a trace of the PyTorch profiler");
}

TEST(Registry, AMemoryTimelineIsToldByItsShape) {
  const Told told = tell(Format::json, " [ [0, 1, -2, 3.5e1], [1");
  ASSERT_NE(told.kind, nullptr);
  EXPECT_THAT(std::string(told.kind->name), HasSubstr("memory timeline"));
  EXPECT_EQ(told.offset, 1);
  for (const auto other :
       {"[[1,2,3],[4]]"sv, "[[1,2,3,4,5]]"sv, "[1,2,3,4]"sv, "[[1,2,3,\"a\"]]"sv, "[["sv, "["sv}) {
    EXPECT_EQ(tell(Format::json, other).offset, -1) << other;
  }
}

TEST(Registry, OtherBytesAreOfNoKind) {
  EXPECT_EQ(tell(Format::unknown, "index, name").kind, nullptr);
  EXPECT_EQ(tell(Format::png, "\x89PNG").kind, nullptr);
  EXPECT_EQ(tell(Format::empty, "").kind, nullptr);
}

// What somebody adds who adds readers: a line each.
TEST(Registry, ANewKindIsALine) {
  constexpr Kind kMore[] = {
      {.name = "a snapshot", .encoding = Format::json, .keys = {"segments"}},
      {.name = "a Chrome trace", .encoding = Format::json, .outer_keys = {"ph", "traceEvents"}},
      {.name = "a table of nvidia-smi",
       .encoding = Format::unknown,
       .shape = [](std::string_view text) { return text.starts_with("timestamp, "); }},
      {.name = "a tracker", .encoding = Format::pickle, .keys = {"memories_allocated"}},
  };
  EXPECT_EQ(tell(Format::json, R"([{"name": "op", "ph": "X"}])", kMore).kind, &kMore[1]);
  EXPECT_EQ(tell(Format::json, R"([[{"ph": "X"}]])", kMore).kind, nullptr);
  EXPECT_EQ(tell(Format::unknown, "\xEF\xBB\xBFtimestamp, name\n", kMore).kind, &kMore[2]);
  EXPECT_EQ(tell(Format::unknown, "time, name\n", kMore).kind, nullptr);
  EXPECT_EQ(tell(Format::pickle, pickled(Py::dict({{"memories_allocated", Py::dict({})}})), kMore).kind,
            &kMore[3]);
}

TEST(Registry, DamagedBeginningsTellNothing) {
  for (const auto text : {"{\"segments"sv, "{\"segments\""sv, "{\"a\\"sv, "\"\"\"\""sv, "}}]]"sv, "{"sv}) {
    EXPECT_EQ(tell(Format::json, text).offset, -1) << text;
  }
  EXPECT_EQ(tell(Format::pickle, "segments").offset, -1);
  EXPECT_EQ(tell(Format::pickle, "\x8c\x08segment").offset, -1);
}

// Reads `bytes` in chunks of that size; the reason, or what went wrong.
std::string told_of(std::string_view bytes, size_t chunk) {
  Budget budget(int64_t{64} << 20);
  model::Recording recording(budget);
  io::AnyReader reader(recording);
  for (size_t at = 0; at < bytes.size(); at += chunk) {
    const std::string_view piece = bytes.substr(at, chunk);
    if (const Status status = io::push(reader, std::as_bytes(std::span(piece))); !status)
      return status.error().message;
  }
  if (const Status status = reader.finish(); !status) return status.error().message;
  return recording.events.size_rows() == 1 ? recording.parts.at(0).told_by : "no event";
}

TEST(Registry, ThePartSaysWhyItWasReadAsWhatItIs) {
  const std::string bytes = pickled(snapshot_of({event("alloc", 4096, 512)}));
  const std::string want = "A Python pickle (protocol 4). There the text \"segments\" at byte " +
                           std::to_string(bytes.find("segments")) + " tells a memory snapshot of PyTorch.";
  for (const size_t chunk : {size_t{1} << 20, size_t{1}, size_t{7}, size_t{64}}) {
    EXPECT_EQ(told_of(bytes, chunk), want) << chunk;
  }
}

// The key comes behind the first bytes that are looked at, and behind everything that is looked at.
TEST(Registry, ALateKeyTellsToo) {
  const std::string behind =
      R"("segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 2}]]})";
  for (const size_t before : {size_t{2'000}, io::kTellingBytes + 1000}) {
    const std::string text = "{" + std::string(before, ' ') + behind;
    for (const size_t chunk : {size_t{1} << 20, size_t{64}, size_t{1000}, size_t{100'000}}) {
      EXPECT_THAT(told_of(text, chunk), HasSubstr(before < io::kTellingBytes ? "at byte 2002" : "taken for"));
    }
  }
}

}  // namespace
}  // namespace gpustrata::tests
