// Colours for a picture of ranks: transposes to rows, top row first, RGBA.
#pragma once

#include <cstdint>
#include <span>

namespace memstrata::replay {

// Colours as bytes R, G, B, A in memory (0xAABBGGRR as a little-endian number).
struct Palette {
  std::span<const uint32_t> bands;       // at least 1; chosen per block by `group`
  uint32_t merged = 0xFF888888;          // bands lower than a row are drawn half way to this
  uint32_t nothing = 0;                  // background
  uint32_t dimmed_towards = 0xFF000000;  // colour that blocks outside the highlighted set fade to
};

struct PaintStyle {
  Palette palette;
  std::span<const uint32_t> group;   // per rank: index of a band colour; empty = a hash of the rank
  std::span<const uint8_t> matched;  // per rank: 0 = dimmed; empty = nothing is dimmed
  int32_t separator_min_rows = 4;    // bands at least this high get a darker top row
};

// `pixels` as drawn by Timeline::draw; `rgba` has the same count.
void paint(std::span<const uint32_t> pixels, int32_t columns, int32_t rows, const PaintStyle& style,
           std::span<uint32_t> rgba);

}  // namespace memstrata::replay
