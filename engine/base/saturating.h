// Sums of sizes from a file, which may be hostile: at 2^63 - 1 they stay there, and never turn negative.
#pragma once

#include <cstdint>

namespace gpustrata {

// Towards the sign of the true sum.
[[nodiscard]] constexpr int64_t saturated_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

[[nodiscard]] constexpr int64_t saturated_difference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? INT64_MAX : INT64_MIN;
}

constexpr void add_saturated(int64_t& total, int64_t more) { total = saturated_sum(total, more); }

}  // namespace gpustrata
