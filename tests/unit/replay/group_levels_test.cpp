#include "engine/replay/group_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/replay/group_stack.h"
#include "tests/unit/replay/hand_trace.h"

namespace gpustrata::replay {
namespace {

using testing::ElementsAre;

// Blocks of 100, 60, 40 and 8 bytes; the first and the third are one group.
class Groups : public testing::Test {
 protected:
  void SetUp() override {
    trace.alloc(0x1000, 100).alloc(0x2000, 60).alloc(0x3000, 40);
    trace.request(0x1000, 100).complete(0x1000, 100).alloc(0x4000, 8);
    auto found = trace.lifetimes();
    ASSERT_TRUE(found.has_value());
    lives.emplace(std::move(*found));
    Column<uint8_t> group(trace.budget);
    for (const uint8_t one : std::initializer_list<uint8_t>{0, 1, 0, 2}) ASSERT_TRUE(group.push_back(one));
    auto sums = GroupLevels::build(*lives, std::move(group), 3, trace.budget);
    ASSERT_TRUE(sums.has_value());
    levels.emplace(std::move(*sums));
    auto built = Timeline::build(trace.recording, *lives);
    ASSERT_TRUE(built.has_value());
    timeline.emplace(std::move(*built));
  }

  HandTrace trace;
  std::optional<BlockLives> lives;
  std::optional<GroupLevels> levels;
  std::optional<Timeline> timeline;
};

TEST_F(Groups, HaveTheBytesAndBlocksThatAreLive) {
  GroupLevels::Walk walk(*levels);
  EXPECT_THAT(walk.bytes(), ElementsAre(0, 0, 0));
  walk.move_to(2);
  EXPECT_THAT(walk.bytes(), ElementsAre(140, 60, 0));
  EXPECT_THAT(walk.bands(), ElementsAre(2, 1, 0));
  walk.move_to(5);
  EXPECT_THAT(walk.bytes(), ElementsAre(40, 60, 8));
  EXPECT_THAT(walk.bands(), ElementsAre(1, 1, 1));
  walk.move_to(3);
  EXPECT_THAT(walk.bytes(), ElementsAre(140, 60, 0));
  walk.move_to(-1);
  EXPECT_THAT(walk.bytes(), ElementsAre(0, 0, 0));
}

TEST_F(Groups, AreAreasOfTheirHeight) {
  // 20 bytes a row, centres at 10, 30, ... 230; a column for every event, and one outside.
  std::vector<uint32_t> pixels(7 * 12);
  constexpr std::array<uint32_t, 3> values = {7, 8, 9};
  draw_groups(*timeline, *levels, {Axis::event, 0, 1, 7}, {0, 20, 12}, values, pixels);
  const auto column = [&](size_t event) {
    return std::vector<uint32_t>(pixels.begin() + static_cast<ptrdiff_t>(event * 12),
                                 pixels.begin() + static_cast<ptrdiff_t>(event * 12 + 12));
  };
  constexpr uint32_t no = kNothing;
  EXPECT_THAT(column(0), ElementsAre(7, 7, 7, 7, 7, no, no, no, no, no, no, no));
  EXPECT_THAT(column(2), ElementsAre(7, 7, 7, 7, 7, 7, 7, 8, 8, 8, no, no));
  EXPECT_THAT(column(4), ElementsAre(7, 7, 8, 8, 8, no, no, no, no, no, no, no));
  EXPECT_THAT(column(6), ElementsAre(no, no, no, no, no, no, no, no, no, no, no, no));
  // Two rows of 52 bytes each, the 8 bytes on 100 cover no centre: 26, 78.
  std::vector<uint32_t> low(2);
  draw_groups(*timeline, *levels, {Axis::event, 5, 1, 1}, {0, 52, 2}, values, low);
  EXPECT_THAT(low, ElementsAre(7, 8));
}

TEST_F(Groups, HaveEdgesWhereTheyHaveBytes) {
  // Columns of three events show those of the highest levels: 2 and 3.
  const GroupEdges edges = group_edges(*timeline, *levels, 1, 2, {Axis::event, 0, 3, 2});
  EXPECT_THAT(edges.lower, ElementsAre(140, 140));
  EXPECT_THAT(edges.upper, ElementsAre(200, 200));
  const GroupEdges single = group_edges(*timeline, *levels, 1, 3, {Axis::event, 0, 1, 6});
  EXPECT_TRUE(std::isnan(single.lower[0]) && std::isnan(single.upper[0]));
  EXPECT_EQ(single.lower[5], 40);
  EXPECT_EQ(single.upper[5], 108);
}

TEST_F(Groups, AreFoundByHeight) {
  constexpr std::array<int64_t, 4> sums = {40, 0, 60, 8};
  EXPECT_EQ(group_at(sums, 39.9), 0U);
  EXPECT_EQ(group_at(sums, 40), 2U);
  EXPECT_EQ(group_at(sums, 107.5), 3U);
  EXPECT_EQ(group_at(sums, 108), 4U);
  EXPECT_EQ(group_at(sums, -1), 4U);
  EXPECT_EQ(group_at(sums, NAN), 4U);
}

TEST_F(Groups, ThatDoNotFitAreRefused) {
  Budget small(16);
  Column<uint8_t> group(trace.budget);
  ASSERT_TRUE(group.resize(4, 0));
  const auto sums = GroupLevels::build(*lives, std::move(group), 1, small);
  ASSERT_FALSE(sums.has_value());
  EXPECT_EQ(sums.error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace gpustrata::replay
