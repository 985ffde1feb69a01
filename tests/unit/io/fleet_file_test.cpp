// The reader of reduced fleets against a file that Python made (tests/data/fleet/make.py), and against bad ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/answers/fleet.h"
#include "engine/io/any_reader.h"
#include "engine/io/limits.h"
#include "tests/unit/files.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {
namespace {

using model::Diag;
using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of_python() {
  std::string all = file_bytes(test_path("data/fleet/small.json"));
  if (!all.empty() && all.back() == '\n') all.pop_back();
  return all;
}

std::string fleet_json(const ReadFile& file) {
  JsonWriter json;
  answers::to_json(json, *file.recording.fleets.at(0));
  return std::move(json).text();
}

// `text` with the first `from` replaced.
std::string changed(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(FleetFile, IsWrittenBackAsItWas) {
  const std::string text = file_of_python();
  for (const size_t chunk : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
    const auto file = read_any(text, {.chunk = chunk});
    ASSERT_TRUE(file->status) << file->status.error().message;
    EXPECT_EQ(fleet_json(*file), text);
    ASSERT_EQ(file->recording.parts.size(), 1U);
    EXPECT_EQ(file->recording.parts[0].kind, model::PartKind::fleet);
    EXPECT_TRUE(file->recording.parts[0].capabilities.fleet);
    EXPECT_THAT(file->recording.parts[0].told_by, HasSubstr("\"gpustrata_fleet\" at byte 2"));
    EXPECT_FALSE(file->recording.diagnostics.any());
  }
}

TEST(FleetFile, ColumnsCurvesAndRows) {
  const auto file = read_any(file_of_python());
  const model::Fleet& fleet = *file->recording.fleets.at(0);
  EXPECT_EQ(fleet.row_count, 5);
  EXPECT_EQ(fleet.strings.view(fleet.title), "run a");
  const model::FleetColumn* rank = fleet.column("rank");
  ASSERT_NE(rank, nullptr);
  EXPECT_EQ(rank->unit, model::FleetUnit::count);
  EXPECT_TRUE(std::isnan(rank->numbers[0]));  // the line without a rank
  EXPECT_EQ(rank->numbers[4], 3);
  EXPECT_EQ(fleet.column("peak_requested")->numbers[4], 12 << 20);
  EXPECT_EQ(fleet.strings.view(fleet.column("file")->texts[2]), "rank1.pickle");
  EXPECT_EQ(fleet.column("nothing"), nullptr);

  ASSERT_EQ(fleet.curves.allocated.size(), size_t{5 * model::kFleetBuckets});
  EXPECT_FALSE(fleet.curves.common_clock);
  EXPECT_EQ(fleet.curves.scale, 12 << 20);
  EXPECT_EQ(fleet.curves.allocated[4 * model::kFleetBuckets + 127], 255);  // row 4 ends at the scale
  EXPECT_EQ(fleet.curves.allocated[1 * model::kFleetBuckets + 127], 85);   // 4 of 12 MiB
  EXPECT_EQ(fleet.curves.allocated[1 * model::kFleetBuckets + 1], 1);      // next to nothing is not nothing
  EXPECT_EQ(fleet.curves.reserved[0], 0);

  ASSERT_EQ(fleet.findings.size(), 2U);
  EXPECT_EQ(fleet.findings[0].kind, model::FleetKind::outlier);
  EXPECT_TRUE(fleet.findings[0].bad);
  ASSERT_EQ(fleet.findings[0].rows.count, 1);
  EXPECT_EQ(fleet.rows[fleet.findings[0].rows.first], 4);
  EXPECT_EQ(fleet.finding_stacks[fleet.findings[0].stacks.first].median, 512 << 10);
  ASSERT_EQ(fleet.groups.size(), 2U);
  EXPECT_EQ(fleet.groups[1].most_row, 4);
  EXPECT_EQ(fleet.stacks[0].share, 0.375);
}

TEST(FleetFile, OneThatEndsEarlyIsRefusedWithTheByte) {
  const std::string text = file_of_python();
  for (size_t size = 20; size < text.size(); size += size < 400 ? 1 : 37) {
    const auto file = read_any(std::string_view(text).substr(0, size));
    ASSERT_FALSE(file->status) << size;
    EXPECT_EQ(file->status.error().code, ErrorCode::truncated) << size;
    EXPECT_EQ(file->status.error().offset, static_cast<int64_t>(size));
    EXPECT_THAT(file->status.error().message, HasSubstr("ends in the middle"));
  }
}

TEST(FleetFile, AHigherVersionIsRefusedByName) {
  const auto file = read_any(changed(file_of_python(), R"("gpustrata_fleet":1)", R"("gpustrata_fleet":2)"));
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::unsupported);
  EXPECT_THAT(file->status.error().message, HasSubstr("version 2"));
  for (const char* version : {"0", "\"1\"", "1.5e-1", "null", "[1]"}) {
    const auto odd = read_any(fmt::format(R"({{"gpustrata_fleet":{}}})", version));
    ASSERT_FALSE(odd->status) << version;
    EXPECT_EQ(odd->status.error().code, ErrorCode::invalid_format) << version;
  }
}

TEST(FleetFile, SizesThatDoNotFitAreRefused) {
  const std::string text = file_of_python();
  const struct {
    std::string bytes;
    const char* says;
  } kCases[] = {
      {changed(text, R"("values":["","","","",""])", R"("values":["","","",""])"),
       "has 4 values, the one before it 5"},
      {changed(text, R"("buckets":128)", R"("buckets":64)"), "64 buckets"},
      {changed(text, R"("allocated":"AAAA)", R"("allocated":")"), "bytes; 5 rows of 128 are 640"},
      {changed(text, R"("allocated":"AAAA)", R"("allocated":"AAA)"), "no base64: "},
      {changed(text, R"("allocated":"AAAA)", R"("allocated":"AA!A)"), "no base64 here"},
      {changed(text, R"("values":[null,0,1)", R"("values":[null,0x,1)"), "damaged here"},
      {changed(text, R"("values":[null,0,1)", R"("values":[nul,0,1)"), "damaged here"},
      {changed(text, "rank1.pickle", "rank\xFF.pickle"), "damaged here"},
  };
  for (const auto& one : kCases) {
    const auto file = read_any(one.bytes);
    ASSERT_FALSE(file->status) << one.says;
    EXPECT_EQ(file->status.error().code, ErrorCode::invalid_format) << one.says;
    EXPECT_THAT(file->status.error().message, HasSubstr(one.says));
    EXPECT_GT(file->status.error().offset, 0) << one.says;
  }
  const std::string bad = changed(text, R"("allocated":"AAAA)", R"("allocated":"AA!A)");
  EXPECT_EQ(read_any(bad)->status.error().offset, static_cast<int64_t>(bad.find("AA!A") + 2));
}

TEST(FleetFile, WhatIsNotKnownOrNotThereIsLeftOutAndCounted) {
  std::string text = file_of_python();
  text = changed(text, R"("title":"run a")", R"("future":{"a":[1,{"b":null}]},"title":"run a")");
  text = changed(text, R"("rows_of":[1,2])", R"("rows_of":[1,-1,2,5,2.5,"x",null])");
  text = changed(text, R"("rows":[4],"stacks")", R"("rows":[99,4],"stacks")");
  text = changed(text, R"("kind":"coverage")", R"("kind":"weather")");
  text = changed(text, R"("unreadable_count":1)", R"("unreadable_count":1,"unreadable_count":7)");
  const auto file = read_any(text);
  ASSERT_TRUE(file->status) << file->status.error().message;
  const model::Fleet& fleet = *file->recording.fleets.at(0);
  EXPECT_EQ(file->count(Diag::unknown_entry), 3);         // the key, the kind, the second count
  EXPECT_EQ(file->count(Diag::integer_out_of_range), 4);  // -1, 2.5; 5 and 99 are no rows of five
  EXPECT_EQ(file->count(Diag::wrong_type), 1);            // "x"
  EXPECT_EQ(fleet.unreadable_count, 1);
  const model::RowRange rows = fleet.groups[0].rows_of;
  ASSERT_EQ(rows.count, 2);
  EXPECT_EQ(fleet.rows[rows.first], 1);
  EXPECT_EQ(fleet.rows[rows.first + 1], 2);
  EXPECT_EQ(fleet.findings[0].rows.count, 1);
  EXPECT_EQ(fleet.rows[fleet.findings[0].rows.first], 4);
  EXPECT_EQ(fleet.findings[1].kind, model::FleetKind::unknown);
}

TEST(FleetFile, KeysComeInAnyOrder) {
  const auto file = read_any(
      R"({"findings":[{"rows":[1]}],"columns":[{"values":[1,null,true],"unit":"count","name":"a"},
          {"values":["x",null,"y"],"unit":"text","name":"b"},{"values":["x",7,null],"unit":"bytes","name":"c"},
          {"values":[1,2,3],"unit":"miles","name":"d"},{"values":[1,2,3],"unit":"count","name":"a"}],
          "gpustrata_fleet":1} trailing)");
  ASSERT_TRUE(file->status) << file->status.error().message;
  const model::Fleet& fleet = *file->recording.fleets.at(0);
  ASSERT_EQ(fleet.columns.size(), 3U);
  EXPECT_EQ(fleet.columns[0].numbers[2], 1);  // true
  EXPECT_TRUE(fleet.columns[1].texts[1].is_none());
  EXPECT_EQ(fleet.strings.view(fleet.columns[1].texts[2]), "y");
  EXPECT_TRUE(std::isnan(fleet.columns[2].numbers[0]));  // a text among numbers
  EXPECT_EQ(fleet.columns[2].numbers[1], 7);
  EXPECT_EQ(file->count(Diag::wrong_type), 1);
  EXPECT_EQ(file->count(Diag::unknown_entry), 2);  // the unit, the second "a"
  EXPECT_EQ(file->count(Diag::trailing_bytes), 1);
  EXPECT_TRUE(fleet.curves.allocated.empty());
}

TEST(FleetFile, LittleMemoryIsSaidAndGivenBack) {
  const std::string text = file_of_python();
  for (const int64_t limit : {int64_t{1} << 12, int64_t{1} << 14, int64_t{1} << 15}) {
    Budget budget(limit);
    {
      model::Recording recording(budget);
      io::AnyReader reader(recording);
      Status status = io::push(reader, std::as_bytes(std::span(text)));
      if (status) status = reader.finish();
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::limit_exceeded);
      EXPECT_LE(budget.used(), limit);
    }
    EXPECT_EQ(budget.used(), 0);
  }
}

}  // namespace
}  // namespace gpustrata::tests
