// CSV and JSON: what a field becomes, and how long a file may get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/io/limits.h"
#include "engine/io/writers/csv.h"
#include "engine/io/writers/json_snapshot.h"
#include "engine/io/writers/text_size.h"
#include "tests/unit/io/write_read.h"

namespace gpustrata::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A sink that only counts.
class Count final : public io::ByteSink {
 public:
  Status write(std::span<const std::byte> bytes) override {
    count += static_cast<int64_t>(bytes.size());
    return {};
  }
  int64_t count = 0;
};

class TextWriters : public ::testing::Test {
 protected:
  StringId text(std::string_view value) { return recording.strings.intern(value); }
  StackId stack(const std::vector<std::string_view>& names) {
    std::vector<FrameId> frames;
    for (const std::string_view name : names) {
      frames.push_back(recording.frames.intern({text(name), text("a.py"), 1, -1}));
    }
    return recording.stacks.intern(frames);
  }
  void add_event(model::EventTable::Row row) {
    row.action = trace::Action::alloc;
    ASSERT_TRUE(recording.events.append(row));
    recording.parts.resize(1);
    recording.parts[0].traces = {{0, {0, static_cast<int32_t>(recording.events.size_rows())}}};
  }
  // The field user_metadata of a table with one event that has it.
  std::string field(std::string_view metadata) {
    model::EventTable::Row row;
    row.metadata = text(metadata);
    recording.events.clear();
    add_event(row);
    const std::string csv = as_csv();
    const std::string before = "alloc,0x0,,0,0,,,,";
    const size_t start = csv.find(before) + before.size();
    return csv.substr(start, csv.size() - start - std::string_view(",,\n").size());
  }
  std::string as_csv() {
    io::MemorySink sink(budget);
    return io::write_csv(recording, sink, io::CsvTable::events) ? as_text(sink.bytes()) : "failed";
  }

  Budget budget{int64_t{64} << 20};
  model::Recording recording{budget};
};

TEST_F(TextWriters, OrdinaryTextIsAField) {
  EXPECT_EQ(field("conv2d weight"), "conv2d weight");
  EXPECT_EQ(field("a - b = c @ d"), "a - b = c @ d");
  EXPECT_EQ(field("\u00fcber \u20ac"), "\u00fcber \u20ac");
}

TEST_F(TextWriters, SeparatorsOfAnySpreadsheetAreQuoted) {
  EXPECT_EQ(field("a,b"), "\"a,b\"");
  EXPECT_EQ(field("a;b"), "\"a;b\"");
  EXPECT_EQ(field("a\tb"), "\"a\tb\"");
  EXPECT_EQ(field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(field("a \"b\""), "\"a \"\"b\"\"\"");
}

TEST_F(TextWriters, FormulasGetAnApostrophe) {
  for (const std::string sign : {"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"}) {
    EXPECT_EQ(field(sign + "1"), "'" + sign + "1");
    EXPECT_EQ(field("\uFEFF" + sign + "1"), "'\uFEFF" + sign + "1") << "behind a byte order mark";
    EXPECT_EQ(field(" " + sign + "1"), "' " + sign + "1");
  }
  EXPECT_EQ(field("\t1"), "\"'\t1\"");
  EXPECT_EQ(field("\r1"), "\"'\r1\"");
  EXPECT_EQ(field("\n=1"), "\"'\n=1\"");
}

TEST_F(TextWriters, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(field(std::string_view("\0=1", 3)), "\\u0000=1");
  EXPECT_EQ(field("\x1b[31m\x7f"), "\\u001b[31m\\u007f");
  EXPECT_EQ(field("\u009b31m\u009d\u00a0"), "\\u009b31m\\u009d\u00a0");
  EXPECT_EQ(field("\xff\xc2"), "\uFFFD\uFFFD");
}

TEST_F(TextWriters, FramesAreJoinedAndQuotedBecauseOfTheirSeparator) {
  model::EventTable::Row row;
  row.stack = stack({"=f", "g\"h"});
  add_event(row);
  EXPECT_THAT(as_csv(), HasSubstr(",0,\"'=f (a.py:1); g\"\"h (a.py:1)\"\n"));
}

TEST_F(TextWriters, EventsAreCountedFromZeroOnEachDevice) {
  add_event({.size = 7});
  add_event({.size = 8});
  recording.parts[0].traces = {{0, {0, 1}}, {1, {1, 1}}};
  EXPECT_THAT(as_csv(), AllOf(HasSubstr("\n0,0,alloc,0x0,,7,"), HasSubstr("\n1,0,alloc,0x0,,8,")));
}

TEST_F(TextWriters, AStackOfOneFrameIsPlain) {
  model::EventTable::Row row;
  row.stack = stack({"f"});
  add_event(row);
  EXPECT_THAT(as_csv(), HasSubstr(",0,f (a.py:1)\n"));
}

// 60,000 references to a frame whose name has 1 MB: 60 GB of text, from a file of 1.5 KB.
TEST_F(TextWriters, ABombOfOneLongNameIsRefusedBeforeAnythingIsWritten) {
  const FrameId frame = recording.frames.intern({text(std::string(1 << 20, 'x')), text("a.py"), 1, -1});
  model::EventTable::Row row;
  row.stack = recording.stacks.intern(std::vector<FrameId>(60'000, frame));
  add_event(row);
  const int64_t used = budget.used();
  Count sink;
  for (const Status& status :
       {io::write_csv(recording, sink, io::CsvTable::events), io::write_json_snapshot(recording, sink)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::limit_exceeded);
    EXPECT_THAT(status.error().message, HasSubstr("longer than 1.0"));
  }
  EXPECT_EQ(sink.count, 0);
  EXPECT_EQ(budget.used(), used);
  EXPECT_TRUE(io::write_torch_snapshot(recording, sink));  // says the name once
  EXPECT_LT(sink.count, 2 << 20);
}

// 10,000 events with one and the same text of 1 MB: 10 GB.
TEST_F(TextWriters, SoIsOneLongTextOfManyEvents) {
  model::EventTable::Row row;
  row.context = text(std::string(1 << 20, 'x'));
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(recording.events.append(row));
  add_event(row);
  Count sink;
  EXPECT_FALSE(io::write_csv(recording, sink, io::CsvTable::events));
  EXPECT_FALSE(io::write_json_snapshot(recording, sink));
  EXPECT_EQ(sink.count, 0);
}

TEST_F(TextWriters, WhatCannotBeKnownBeforehandIsCountedWhileItIsWritten) {
  Count count;
  io::BoundedSink sink(count, 10, "CSV");
  EXPECT_TRUE(sink.write(io::bytes_of("1234567")));
  EXPECT_TRUE(sink.write(io::bytes_of("890")));
  const Status status = sink.write(io::bytes_of("1"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::limit_exceeded);
  EXPECT_THAT(status.error().message, HasSubstr("as CSV"));
  EXPECT_FALSE(sink.write({}).has_value() && sink.write(io::bytes_of("1")).has_value());
  EXPECT_EQ(count.count, 10);
}

TEST_F(TextWriters, MoreRowsMayHaveMoreText) {
  io::TextSize size(recording, 0);
  EXPECT_EQ(size.limit(), io::kFreeWrittenBytes);
  model::Part part;
  part.host_events = {0, 1000};
  size.add_rows(part);
  EXPECT_EQ(size.limit(), io::kFreeWrittenBytes + 1000 * io::kWrittenBytesPerRow);
}

}  // namespace
}  // namespace gpustrata::tests
