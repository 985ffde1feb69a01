// Colours for a picture of ranks: transposes to rows, top row first, RGBA.
#pragma once

#include <cstdint>
#include <span>

#include "engine/replay/band_colours.h"

namespace gpustrata::replay {

// `pixels` as drawn by Timeline::draw; `rgba` has the same count. A merged row without a mean has the colour
// of its block.
void paint(std::span<const uint32_t> pixels, int32_t columns, int32_t rows, const BandColours& colours,
           std::span<uint32_t> rgba);

}  // namespace gpustrata::replay
