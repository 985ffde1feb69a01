#include "engine/replay/paint.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/replay/timeline.h"

namespace gpustrata::replay {

namespace {

constexpr size_t kTileColumns = 8;        // 800 rows of them fit into the first cache
constexpr uint32_t kSeparatorShare = 64;  // of 256

uint32_t colour_of(uint32_t pixel, size_t rows, const BandColours& colours) {
  if (pixel == kNothing) return colours.style().palette.nothing;
  return is_mean(pixel) ? 0xFF000000 | (pixel & kMeanMask) : colours.of(pixel & kRankMask, rows);
}

// The top rows of high bands, darker. A rank's pixels are one run, so a band is high enough if the pixel
// `separator_rows - 1` below its top shows it too. A band cut off by the edge of the picture does not end
// there. Rows of means are no bands.
void draw_separators(std::span<const uint32_t> pixels, size_t separator_rows, uint32_t* out) {
  const size_t rows = pixels.size();
  const uint32_t* pixel = pixels.data();
  for (size_t top = separator_rows - 1; top + 1 < rows; ++top) {
    const bool is_top = pixel[top] != pixel[top + 1] && pixel[top] == pixel[top + 1 - separator_rows] &&
                        pixel[top] <= kRankMask;
    out[top] = is_top ? darker(out[top], kSeparatorShare) : out[top];
  }
}

void paint_column(std::span<const uint32_t> pixels, const BandColours& colours, uint32_t* out) {
  for (size_t row = 0; row < pixels.size();) {
    size_t end = row + 1;
    while (end < pixels.size() && pixels[end] == pixels[row]) ++end;
    // At an edge it may be higher than what is seen of it.
    const bool is_cut = row == 0 || end == pixels.size();
    std::fill(out + row, out + end, colour_of(pixels[row], is_cut ? SIZE_MAX : end - row, colours));
    row = end;
  }
  draw_separators(pixels, static_cast<size_t>(std::max(colours.style().separator_min_rows, 1)), out);
}

using FourColours [[gnu::vector_size(16)]] = uint32_t;

// out[r * width + c] = in[c * height + r], for 4 x 4.
void transpose_4x4(const uint32_t* in, size_t height, uint32_t* out, ptrdiff_t row_step) {
  FourColours a, b, c, d;
  std::memcpy(&a, in, sizeof a);
  std::memcpy(&b, in + height, sizeof b);
  std::memcpy(&c, in + 2 * height, sizeof c);
  std::memcpy(&d, in + 3 * height, sizeof d);
  const FourColours ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const FourColours ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const FourColours cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const FourColours cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
  std::memcpy(out, &a, sizeof a);
  std::memcpy(out + row_step, &b, sizeof b);
  std::memcpy(out + 2 * row_step, &c, sizeof c);
  std::memcpy(out + 3 * row_step, &d, sizeof d);
}

// Columns of a tile, bottom row first, to rows of the picture. `bottom` is where row 0 goes.
void transpose_tile(const uint32_t* tile, size_t columns, size_t height, uint32_t* bottom, size_t width) {
  const auto row_step = -static_cast<ptrdiff_t>(width);
  size_t row = 0;
  if (columns == kTileColumns) {
    for (; row + 4 <= height; row += 4) {
      uint32_t* out = bottom + static_cast<ptrdiff_t>(row) * row_step;
      for (size_t c = 0; c < kTileColumns; c += 4)
        transpose_4x4(tile + c * height + row, height, out + c, row_step);
    }
  }
  for (; row < height; ++row) {
    uint32_t* out = bottom + static_cast<ptrdiff_t>(row) * row_step;
    for (size_t c = 0; c < columns; ++c) out[c] = tile[c * height + row];
  }
}

}  // namespace

void paint(std::span<const uint32_t> pixels, int32_t columns, int32_t rows, const BandColours& colours,
           std::span<uint32_t> rgba) {
  if (columns <= 0 || rows <= 0) return;
  const auto height = static_cast<size_t>(rows);
  const auto width = static_cast<size_t>(columns);
  if (pixels.size() / height < width || rgba.size() / height < width) return;

  std::vector<uint32_t> tile(height * kTileColumns);
  for (size_t left = 0; left < width; left += kTileColumns) {
    const size_t tile_width = std::min(kTileColumns, width - left);
    for (size_t c = 0; c < tile_width; ++c) {
      paint_column(pixels.subspan((left + c) * height, height), colours, tile.data() + c * height);
    }
    transpose_tile(tile.data(), tile_width, height, rgba.data() + (height - 1) * width + left, width);
  }
}

}  // namespace gpustrata::replay
