// Some of the bands, stacked from zero: what one sees when the others had never been.
//
// Bands keep their numbers, so that whatever is asked by rank means the same; those left out are gone from the start (born and
// freed -1).
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/status.h"
#include "engine/replay/bands.h"
#include "engine/replay/block_lives.h"

namespace gpustrata::replay {

// `chosen`: of each band, 0 = it is left out. `blocks`: of what waits to be freed; null if bands never do. What is
// reserved is as for all. O(bands + events). Error: limit_exceeded.
[[nodiscard]] Result<Bands> chosen_bands(const Bands& all, const BlockLives* blocks,
                                         std::span<const uint8_t> chosen, Budget& budget);

}  // namespace gpustrata::replay
