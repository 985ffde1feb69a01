#include "engine/replay/paint.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/hash.h"
#include "engine/replay/timeline.h"

namespace memstrata::replay {

namespace {

constexpr int32_t kTileColumns = 16;  // a row of a tile is a cache line
constexpr size_t kKnownColours = 2048;

// Shares are of 256.
constexpr uint32_t kMergedShare = 128;
constexpr uint32_t kDimmedShare = 192;
constexpr uint32_t kSeparatorShare = 64;
constexpr uint32_t kLightnessStep = 9;
constexpr uint32_t kLightnesses = 7;

// `from` moved towards `to`, channel by channel; alpha too.
constexpr uint32_t mix(uint32_t from, uint32_t to, uint32_t share) {
  const uint32_t keep = 256 - share;
  const uint32_t even = ((from & 0x00FF00FF) * keep + (to & 0x00FF00FF) * share) >> 8;
  const uint32_t odd = ((from >> 8) & 0x00FF00FF) * keep + ((to >> 8) & 0x00FF00FF) * share;
  return (even & 0x00FF00FF) | (odd & 0xFF00FF00);
}

constexpr uint32_t kAlpha = 0xFF000000;

constexpr uint32_t darker(uint32_t colour, uint32_t share) {
  return (mix(colour, 0, share) & ~kAlpha) | (colour & kAlpha);
}

constexpr uint32_t lighter(uint32_t colour, uint32_t share) {
  return (mix(colour, 0x00FFFFFF, share) & ~kAlpha) | (colour & kAlpha);
}

class BandColours {
 public:
  explicit BandColours(const PaintStyle& style) : style_(style) {
    // A slot must not claim to know pixel 0 before it was asked for it.
    for (size_t i = 0; i < kKnownColours; ++i) known_[i].pixel = static_cast<uint32_t>(i) + 1;
  }

  [[nodiscard]] uint32_t of(uint32_t pixel) {
    Known& known = known_[pixel % kKnownColours];
    if (known.pixel != pixel) known = {pixel, compute(pixel)};
    return known.colour;
  }

 private:
  struct Known {
    uint32_t pixel;
    uint32_t colour;
  };

  [[nodiscard]] uint32_t compute(uint32_t pixel) const {
    if (pixel == kNothing) return style_.palette.nothing;
    const uint32_t rank = pixel & kRankMask;
    const auto bands = style_.palette.bands;
    if (bands.empty()) return style_.palette.merged;
    const uint64_t group = rank < style_.group.size() ? style_.group[rank] : mix_hash(rank);
    uint32_t colour = bands[static_cast<size_t>(group % bands.size())];
    // 3 has no common factor with 7: ranks up to 6 apart differ, and neighbours by several steps.
    const uint32_t lightness = rank * 3 % kLightnesses;
    constexpr uint32_t middle = kLightnesses / 2;
    colour = lightness < middle ? darker(colour, (middle - lightness) * kLightnessStep)
                                : lighter(colour, (lightness - middle) * kLightnessStep);
    if ((pixel & kMergedBit) != 0) colour = mix(colour, style_.palette.merged, kMergedShare);
    if (rank < style_.meant.size() && style_.meant[rank] == 0) {
      colour = mix(colour, style_.palette.dimmed_towards, kDimmedShare);
    }
    return colour;
  }

  const PaintStyle& style_;
  std::array<Known, kKnownColours> known_;
};

// One column of pixels into colours, run after run.
void paint_column(std::span<const uint32_t> pixels, const PaintStyle& style, BandColours& colours,
                  std::span<uint32_t> out) {
  const size_t rows = pixels.size();
  const auto separator_rows = static_cast<size_t>(std::max(style.separator_min_rows, 1));
  for (size_t begin = 0; begin < rows;) {
    const uint32_t pixel = pixels[begin];
    size_t end = begin + 1;
    while (end < rows && pixels[end] == pixel) ++end;
    const uint32_t colour = colours.of(pixel);
    std::fill(out.begin() + static_cast<ptrdiff_t>(begin), out.begin() + static_cast<ptrdiff_t>(end), colour);
    // A band cut off by the edge of the picture does not end there.
    if (pixel != kNothing && end < rows && end - begin >= separator_rows) {
      out[end - 1] = darker(colour, kSeparatorShare);
    }
    begin = end;
  }
}

}  // namespace

void paint(std::span<const uint32_t> pixels, int32_t columns, int32_t rows, const PaintStyle& style,
           std::span<uint32_t> rgba) {
  if (columns <= 0 || rows <= 0) return;
  const auto height = static_cast<size_t>(rows);
  const auto width = static_cast<size_t>(columns);
  if (pixels.size() / height < width || rgba.size() / height < width) return;

  BandColours colours(style);
  std::vector<uint32_t> tile(height * kTileColumns);
  for (size_t left = 0; left < width; left += kTileColumns) {
    const size_t tile_width = std::min<size_t>(kTileColumns, width - left);
    for (size_t c = 0; c < tile_width; ++c) {
      paint_column(pixels.subspan((left + c) * height, height), style, colours,
                   std::span(tile).subspan(c * height, height));
    }
    for (size_t row = 0; row < height; ++row) {
      uint32_t* out = rgba.data() + (height - 1 - row) * width + left;
      const uint32_t* in = tile.data() + row;
      for (size_t c = 0; c < tile_width; ++c) out[c] = in[c * height];
    }
  }
}

}  // namespace memstrata::replay
