// What keeps a table of open addressing from being slow on keys that a file chose for it: a key that probes further than
// honest ones do makes the table hash anew, with a seed that no file can know. No answer depends on the seed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/base/hash.h"

namespace gpustrata {

// Half full, 10^9 honest keys probe less far: the longest run is about 5 * ln(keys).
inline constexpr size_t kMostProbes = 128;

[[nodiscard]] inline uint64_t fresh_hash_seed() {
  return mix_hash(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
}

}  // namespace gpustrata
