// Where in a picture is room for a word inside a band?
//
// A band slides as blocks below it are freed, so a place is a rectangle that the band covers in all its
// columns. Found from left to right in one pass over the pixels: a place ends where the next column leaves
// too few rows, and of a block's places the widest is kept. Not always the largest rectangle there is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpustrata::replay {

struct BandPlace {
  int32_t rank;
  int32_t column, columns;  // first, count
  int32_t row, rows;        // lowest, count
};

struct PlaceLimits {
  int32_t columns = 1, rows = 1;  // at least this large
  size_t most = 200;              // the largest ones
};

// `pixels` as drawn by Timeline::draw, `height` rows each. One place per block, from left to right.
// O(pixels / limits.rows + bands).
[[nodiscard]] std::vector<BandPlace> find_band_places(std::span<const uint32_t> pixels, int32_t height,
                                                      const PlaceLimits& limits);

}  // namespace gpustrata::replay
