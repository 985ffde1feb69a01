#include "engine/replay/band_places.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/replay/timeline.h"

namespace gpustrata::replay {
namespace {

// Rows from the top, as one sees them; a digit is a rank, `m` a mean, `.` nothing.
std::vector<uint32_t> picture(const std::vector<std::string>& rows) {
  std::vector<uint32_t> pixels;
  for (size_t column = 0; column < rows[0].size(); ++column) {
    for (size_t row = rows.size(); row-- > 0;) {
      const char c = rows[row][column];
      pixels.push_back(c == '.' ? kNothing : c == 'm' ? kMeanBits : static_cast<uint32_t>(c - '0'));
    }
  }
  return pixels;
}

std::string found(const std::vector<std::string>& rows, PlaceLimits limits) {
  std::string text;
  for (const BandPlace& place : find_band_places(picture(rows), static_cast<int32_t>(rows.size()), limits)) {
    text += std::to_string(place.rank) + ": " + std::to_string(place.columns) + "x" +
            std::to_string(place.rows) + " at " + std::to_string(place.column) + "," +
            std::to_string(place.row) + "; ";
  }
  return text;
}

TEST(BandPlaces, ABandThatSlidesLeavesWhatItAlwaysCovers) {
  EXPECT_EQ(found({"1111....",  //
                   "11111111",  //
                   "00001111",  //
                   "00000000"},
                  {.columns = 3, .rows = 1}),
            "0: 8x1 at 0,0; 1: 8x1 at 0,2; ");
  // Two rows are only there before and after the slide; the earlier of two equal ones is kept.
  EXPECT_EQ(found({"1111....",  //
                   "11111111",  //
                   "00001111",  //
                   "00000000"},
                  {.columns = 3, .rows = 2}),
            "0: 4x2 at 0,0; 1: 4x2 at 0,2; ");
}

TEST(BandPlaces, TooNarrowTooLowMergedAndEmptyOnesAreLeftOut) {
  EXPECT_EQ(found({"......",  //
                   "mmmm33",  //
                   "mmmm33",  //
                   "222233",  //
                   "111111",  //
                   "111111"},
                  {.columns = 3, .rows = 2}),
            "1: 6x2 at 0,0; ");
}

TEST(BandPlaces, TheWidestPlaceOfABlockIsKeptAndTheLargestOfAll) {
  const std::vector<std::string> rows = {"11.1111",  //
                                         "2222222",  //
                                         "2222222",  //
                                         "0000000"};
  EXPECT_EQ(found(rows, {.columns = 2, .rows = 1}), "0: 7x1 at 0,0; 2: 7x2 at 0,1; 1: 4x1 at 3,3; ");
  EXPECT_EQ(found(rows, {.columns = 2, .rows = 1, .most = 1}), "2: 7x2 at 0,1; ");
}

TEST(BandPlaces, EveryHeightOfBandIsSeenWhereverItLies) {
  for (int32_t least = 1; least <= 5; ++least) {
    for (int32_t height = 1; height <= 8; ++height) {
      for (int32_t bottom = 0; bottom + height <= 14; ++bottom) {
        std::vector<uint32_t> column(14, kNothing);
        for (int32_t row = bottom; row < bottom + height; ++row) column[static_cast<size_t>(row)] = 7;
        const auto places = find_band_places(column, 14, {.columns = 1, .rows = least});
        ASSERT_EQ(places.size(), height >= least ? 1u : 0u) << least << " " << height << " " << bottom;
        if (places.empty()) continue;
        EXPECT_EQ(places[0].row, bottom);
        EXPECT_EQ(places[0].rows, height);
      }
    }
  }
}

TEST(BandPlaces, NoPictureNoPlaces) {
  EXPECT_TRUE(find_band_places({}, 10, {}).empty());
  EXPECT_TRUE(find_band_places(picture({"0"}), 0, {}).empty());
  EXPECT_TRUE(find_band_places(picture({"0"}), 1, {.columns = 0, .rows = 0}).empty());
}

}  // namespace
}  // namespace gpustrata::replay
