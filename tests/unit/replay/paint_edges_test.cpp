// Bands at the edges of a picture of several columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/replay/paint.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {
namespace {

constexpr uint32_t kPlainGrey = 0xFF808080, kDarkGrey = 0xFF606060;  // 0x80 less a quarter

// Ranks 1 and 8 have the same lightness, that of the colour itself.
[[nodiscard]] std::vector<uint32_t> painted_grey(const std::vector<uint32_t>& pixels, int32_t columns,
                                                 int32_t rows, int32_t separator_rows) {
  const std::vector<uint32_t> bands = {kPlainGrey};
  const PaintStyle style{
      .palette = {.bands = bands}, .group = {}, .matched = {}, .separator_min_rows = separator_rows};
  std::vector<uint32_t> rgba(pixels.size());
  paint(pixels, columns, rows, BandColours(style), rgba);
  return rgba;
}

// Columns from the left, each from the bottom: rank 1 alone, then rank 8 alone. Both are cut off by the upper edge; what
// follows the first in memory is the bottom of the second.
TEST(PaintEdges, ABandCutOffAtTheTopDoesNotEndAtTheNextColumn) {
  EXPECT_THAT(painted_grey({1, 1, 8, 8}, 2, 2, 1), testing::Each(kPlainGrey));
  EXPECT_THAT(painted_grey({1, 1, 1, 8, 8, 8}, 2, 3, 2), testing::Each(kPlainGrey));
}

// Rank 1 has as many rows as a separator needs, or one less.
TEST(PaintEdges, ASeparatorNeedsItsRows) {
  EXPECT_THAT(painted_grey({1, 1, 8, 8, 8}, 1, 5, 2),
              testing::ElementsAre(kPlainGrey, kPlainGrey, kPlainGrey, kDarkGrey, kPlainGrey));
  EXPECT_THAT(painted_grey({1, 8, 8, 8}, 1, 4, 2), testing::Each(kPlainGrey));
}

}  // namespace
}  // namespace gpustrata::replay
