#include "engine/model/table.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/model/tables.h"

namespace gpustrata::model {
namespace {

TEST(TableTest, ARowComesBackFromItsColumns) {
  Budget budget{1 << 16};
  HistoryTable table(budget);
  ASSERT_TRUE(table.append({.address = 0x10, .real_size = 5, .stack = StackId{3}}));
  ASSERT_TRUE(table.append({.address = 0x20}));
  EXPECT_EQ(table.size_rows(), 2u);
  EXPECT_EQ(table.address[0], 0x10u);
  EXPECT_EQ(table.real_size[0], 5);
  EXPECT_EQ(table.stack[0], StackId{3});
  EXPECT_TRUE(table.stack[1].is_none());
}

// A column that columns() forgets would stay empty.
template <typename Table>
void expect_every_column_is_listed() {
  Budget budget{1 << 16};
  Table table(budget);
  ASSERT_TRUE(table.append({}));
  size_t bytes = 0;
  table.each_column([&](const auto& column) { bytes += sizeof(column) + (column.size() == 1 ? 0 : 1); });
  EXPECT_EQ(sizeof(Table), bytes + sizeof(Budget*));
}
TEST(TableTest, EveryColumnIsListed) {
  expect_every_column_is_listed<EventTable>();
  expect_every_column_is_listed<BlockTable>();
  expect_every_column_is_listed<HistoryTable>();
  expect_every_column_is_listed<SegmentTable>();
  expect_every_column_is_listed<AnnotationTable>();
  expect_every_column_is_listed<SeriesTable>();
  expect_every_column_is_listed<PointTable>();
  expect_every_column_is_listed<ExtraTable>();
  expect_every_column_is_listed<SpanTable>();
  expect_every_column_is_listed<ThreadTable>();
  expect_every_column_is_listed<RecordTable>();
}

TEST(TableTest, ARefusedRowLeavesNoColumnLonger) {
  Budget budget{300};  // 16 addresses, then 16 sizes: 256 bytes; the stacks (64) are refused
  HistoryTable table(budget);
  EXPECT_FALSE(table.append({}));
  table.each_column([](const auto& column) { EXPECT_EQ(column.size(), 0u); });
}

TEST(TableTest, CopiesComeInTheOrderOfTheRanges) {
  Budget budget{1 << 16};
  AnnotationTable table(budget);
  for (int32_t device = 0; device < 5; ++device) ASSERT_TRUE(table.append({.device = device}));
  RowRange copies;
  const std::array<RowRange, 2> ranges = {RowRange{3, 2}, RowRange{0, 1}};
  ASSERT_TRUE(table.append_copies(ranges, copies));
  EXPECT_EQ(copies, (RowRange{5, 3}));
  EXPECT_EQ(table.device[5], 3);
  EXPECT_EQ(table.device[6], 4);
  EXPECT_EQ(table.device[7], 0);
  table.each_column([](const auto& column) { EXPECT_EQ(column.size(), 8u); });
}

TEST(TableTest, ReorderMovesWholeRows) {
  Budget budget{1 << 16};
  HistoryTable table(budget);
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(table.append({i, static_cast<int64_t>(10 * i), StackId{static_cast<size_t>(i)}}));
  }
  const std::array<uint32_t, 3> order = {2, 0, 1};  // of rows 1 to 3
  ASSERT_TRUE(table.reorder(1, order));
  EXPECT_EQ(std::vector(table.address.begin(), table.address.end()), (std::vector<uint64_t>{0, 3, 1, 2}));
  EXPECT_EQ(std::vector(table.real_size.begin(), table.real_size.end()),
            (std::vector<int64_t>{0, 30, 10, 20}));
  EXPECT_EQ(table.stack[1], StackId{3});
  ASSERT_TRUE(table.reorder(0, {}));
}

}  // namespace
}  // namespace gpustrata::model
