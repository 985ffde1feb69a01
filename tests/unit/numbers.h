// Numbers that many tests use.
#pragma once

#include <cstdint>

namespace gpustrata {

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;
// Where the first segment of a recording made by hand lies: an address as CUDA gives them.
inline constexpr uint64_t kBase = 0x7f064c000000;

}  // namespace gpustrata
