// Random numbers, the same on every machine.
#pragma once

#include <cstdint>
#include <random>

namespace gpustrata {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // Of [low, high].
  int64_t whole(int64_t low, int64_t high) {
    const auto span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? engine_() : engine_() % span));
  }
  // Of [0, n).
  int32_t below(int32_t n) { return static_cast<int32_t>(whole(0, n - 1)); }
  bool one_in(int64_t n) { return whole(1, n) == 1; }
  double real() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  // Spread over the powers of two.
  int64_t size(int low_bits, int high_bits) {
    const int64_t bits = whole(low_bits, high_bits);
    return whole(int64_t{1} << bits, (int64_t{2} << bits) - 1);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace gpustrata
