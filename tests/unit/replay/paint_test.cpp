#include "engine/replay/paint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/replay/timeline.h"

namespace gpustrata::replay {
namespace {

using testing::ElementsAre;

constexpr uint32_t kGrey = 0xFF808080;
constexpr uint32_t kRed = 0xFF0000FF;
constexpr uint32_t kWhite = 0xFFFFFFFF;
constexpr uint32_t kBackground = 0x01020304;

std::vector<uint32_t> painted(const std::vector<uint32_t>& pixels, int32_t columns, int32_t rows,
                              const PaintStyle& style) {
  std::vector<uint32_t> rgba(pixels.size(), 0xDEADBEEF);
  paint(pixels, columns, rows, BandColours(style), rgba);
  return rgba;
}

int red(uint32_t colour) { return static_cast<int>(colour & 0xFF); }

// Rank 1 has the middle lightness (1 * 3 % 7 = 3): the band colour itself.
constexpr uint32_t kPlain = 1;

TEST(Paint, ColumnsFromTheBottomBecomeRowsFromTheTop) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands, .nothing = kBackground}, .group = {}, .matched = {}};
  // Left column: a band below nothing. Right column: nothing.
  EXPECT_THAT(painted({kPlain, kNothing, kNothing, kNothing}, 2, 2, style),
              ElementsAre(kBackground, kBackground, kGrey, kBackground));
}

TEST(Paint, TheGroupOfABlockChoosesItsBandColour) {
  const std::vector<uint32_t> bands = {kGrey, kRed};
  const std::vector<uint32_t> group = {0, 3};  // 3 % 2 = 1
  const PaintStyle style{.palette = {.bands = bands}, .group = group, .matched = {}};
  EXPECT_THAT(painted({kPlain}, 1, 1, style), ElementsAre(kRed));
}

TEST(Paint, NeighboursOfOneGroupDifferInLightness) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands}, .group = {}, .matched = {}};
  const auto rgba = painted({0, 1, 2, 3, 4, 5, 6}, 7, 1, style);
  for (size_t i = 0; i < rgba.size(); ++i) {
    EXPECT_NEAR(red(rgba[i]), 0x80, 16);
    EXPECT_EQ(rgba[i] >> 24, 0xFFu);
    for (size_t j = 0; j < i; ++j) EXPECT_NE(rgba[i], rgba[j]) << i << " " << j;
  }
}

// Ranks 0 and 2 of one group have lightnesses of their own where they are three rows high; a higher one may be cut at an edge.
TEST(Paint, LowBlocksHaveTheColourOfTheirGroup) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands},
                         .group = {},
                         .matched = {},
                         .separator_min_rows = 99,
                         .shaded_min_rows = 3};
  const BandColours colours(style);
  const uint32_t own = colours.of(0), other = colours.of(2);
  EXPECT_NE(own, kGrey);
  // From the bottom: one row cut off, two rows, three, one; the picture has the top first.
  EXPECT_THAT(painted({0, 2, 2, 0, 0, 0, 2, kNothing}, 1, 8, style),
              ElementsAre(0u, kGrey, own, own, own, kGrey, kGrey, own));
  EXPECT_THAT(painted({0, 0, 2}, 1, 3, style), ElementsAre(other, own, own));
  // What is merged has exactly that colour, too.
  EXPECT_EQ(colours.mean(colours.weight_of(0, 1000)), kGrey & 0xFFFFFF);
}

TEST(Paint, AMeanIsItsOwnColour) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands}, .group = {}, .matched = {}, .separator_min_rows = 1};
  EXPECT_THAT(painted({kPlain, kMeanBits | 0x123456, kPlain | kMergedBit}, 3, 1, style),
              ElementsAre(kGrey, 0xFF123456u, kGrey));
  // No separators among means: from the bottom, two equal ones and another.
  EXPECT_THAT(painted({kMeanBits | 1, kMeanBits | 1, kMeanBits | 2}, 1, 3, style),
              ElementsAre(0xFF000002u, 0xFF000001u, 0xFF000001u));
}

TEST(BandColours, AMeanIsTakenInLinearLight) {
  const std::vector<uint32_t> bands = {0xFF000000, kWhite};
  const std::vector<uint32_t> group = {0, 0, 0, 0, 0, 0, 0, 0, 1};
  const BandColours colours({.palette = {.bands = bands}, .group = group, .matched = {}});
  // Ranks 1 and 8 have the middle lightness: pure black and white.
  ASSERT_EQ(colours.of(1), 0xFF000000u);
  ASSERT_EQ(colours.of(8), kWhite);
  Weight weight = colours.weight_of(1, 300);
  EXPECT_EQ(colours.mean(weight), 0u);
  weight += colours.weight_of(8, 300);
  // Half of the light is sRGB 1.055 * 0.5^(1/2.4) - 0.055 = 0.7354, times 255 = 187.5.
  EXPECT_THAT(colours.mean(weight), testing::AnyOf(0xBBBBBBu, 0xBCBCBCu));
  weight += colours.weight_of(1, 1800);
  // An eighth: 1.055 * 0.125^(1/2.4) - 0.055 = 0.3886, times 255 = 99.1.
  EXPECT_EQ(colours.mean(weight), 0x636363u);
  EXPECT_EQ(weight.bytes(), 2400);
}

TEST(BandColours, TheMeanOfOneColourIsThatColour) {
  std::vector<uint32_t> bands;
  for (uint32_t value = 0; value < 256; ++value)
    bands.push_back(0xFF000000 | value | value << 8 | value << 16);
  std::vector<uint32_t> group(256 * 7 + 2);
  for (uint32_t value = 0; value < 256; ++value) group[value * 7 + 1] = value;
  const BandColours colours({.palette = {.bands = bands}, .group = group, .matched = {}});
  for (uint32_t value = 0; value < 256; ++value) {
    for (const int64_t bytes : {int64_t{1}, int64_t{3}, int64_t{1'000'003}, int64_t{1} << 47}) {
      EXPECT_EQ(colours.mean(colours.weight_of(value * 7 + 1, bytes)) | 0xFF000000, bands[value]) << bytes;
    }
  }
}

TEST(Paint, BlocksThatAreNotMeantFadeByThreeQuarters) {
  const std::vector<uint32_t> bands = {kGrey};
  const std::vector<uint8_t> matched = {1, 0};
  const PaintStyle style{
      .palette = {.bands = bands, .dimmed_towards = kWhite}, .group = {}, .matched = matched};
  // 0x80 / 4 + 0xFF * 3 / 4 = 32 + 191.25
  EXPECT_THAT(painted({kPlain}, 1, 1, style), ElementsAre(0xFFDFDFDFu));
  EXPECT_EQ(painted({0}, 1, 1, style),
            painted({0}, 1, 1, {.palette = {.bands = bands}, .group = {}, .matched = {}}));
}

TEST(Paint, OnlyHighBandsGetADarkerTopRow) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands}, .group = {}, .matched = {}, .separator_min_rows = 3};
  // From the bottom: 3 rows of rank 1, 2 rows of rank 8 (same lightness), nothing.
  const auto rgba = painted({1, 1, 1, 8, 8, kNothing}, 1, 6, style);
  EXPECT_THAT(rgba, ElementsAre(0u, kGrey, kGrey, 0xFF606060u, kGrey, kGrey));  // 0x80 * 3 / 4
}

TEST(Paint, ABandCutOffAtTheTopHasNoSeparatorThere) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands}, .group = {}, .matched = {}, .separator_min_rows = 1};
  EXPECT_THAT(painted({1, 1}, 1, 2, style), ElementsAre(kGrey, kGrey));
}

TEST(Paint, AnyNumberOfColumnsAndRowsIsTransposedExactly) {
  // 37 columns (two full tiles and a part), 5 rows, a rank for each pixel; each colour stands for its rank.
  constexpr int32_t kColumns = 37, kRows = 5;
  std::vector<uint32_t> pixels, bands, group;
  for (uint32_t i = 0; i < kColumns * kRows; ++i) {
    pixels.push_back(i * 7 + 1);  // all ranks have the middle lightness
    bands.push_back(0xFF000000 | i);
  }
  for (uint32_t rank = 0; rank <= pixels.back(); ++rank) group.push_back(rank / 7);
  const PaintStyle style{.palette = {.bands = bands}, .group = group, .matched = {}};
  const auto rgba = painted(pixels, kColumns, kRows, style);
  for (int32_t column = 0; column < kColumns; ++column) {
    for (int32_t row = 0; row < kRows; ++row) {
      EXPECT_EQ(rgba[static_cast<size_t>((kRows - 1 - row) * kColumns + column)],
                bands[static_cast<size_t>(column * kRows + row)]);
    }
  }
}

TEST(Paint, PicturesThatDoNotFitAreLeftAlone) {
  const std::vector<uint32_t> bands = {kGrey};
  const PaintStyle style{.palette = {.bands = bands}, .group = {}, .matched = {}};
  EXPECT_THAT(painted({1, 1}, 2, 2, style), ElementsAre(0xDEADBEEFu, 0xDEADBEEFu));
  EXPECT_THAT(painted({1}, 0, -1, style), ElementsAre(0xDEADBEEFu));
}

}  // namespace
}  // namespace gpustrata::replay
