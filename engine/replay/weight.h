// How much light blocks give together: the sums behind mean colours, and the inner loop of them.
//
// Three forms of the one multiplication: SSE2 (every x86-64), WebAssembly SIMD, and plain C++.
#pragma once

#include <cstdint>

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gpustrata::replay {

// What one byte weighs: linear light, 0..65535 per channel.
struct alignas(16) Light {
  uint32_t bytes = 1;
  uint32_t red = 0, green = 0, blue = 0;
};

// Bytes, and light times bytes. Sums wrap around, so that those of any stack can be kept and subtracted; a
// difference is right if it stands for at most 2^47 bytes.
class Weight {
 public:
  constexpr Weight() = default;
  // Of bytes without light.
  explicit Weight(int64_t bytes) : bytes_red_{static_cast<uint64_t>(bytes), 0} {}
  Weight(const Light& light, int64_t bytes) {
    const auto count = static_cast<uint64_t>(bytes);
    add_product(light, static_cast<uint32_t>(count));
    if (count >> 32 == 0) return;
    Weight upper;
    upper.add_product(light, static_cast<uint32_t>(count >> 32));
    bytes_red_ += upper.bytes_red_ << 32;
    green_blue_ += upper.green_blue_ << 32;
  }

  [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_red_[0]); }
  [[nodiscard]] uint64_t red() const { return bytes_red_[1]; }
  [[nodiscard]] uint64_t green() const { return green_blue_[0]; }
  [[nodiscard]] uint64_t blue() const { return green_blue_[1]; }

  Weight& operator+=(const Weight& other) {
    bytes_red_ += other.bytes_red_;
    green_blue_ += other.green_blue_;
    return *this;
  }
  Weight& operator-=(const Weight& other) {
    bytes_red_ -= other.bytes_red_;
    green_blue_ -= other.green_blue_;
    return *this;
  }
  friend Weight operator+(Weight left, const Weight& right) { return left += right; }
  friend Weight operator-(Weight left, const Weight& right) { return left -= right; }

 private:
  using Pair [[gnu::vector_size(16)]] = uint64_t;

  void add_product(const Light& light, uint32_t bytes) {
#if defined(__wasm_simd128__)
    const v128_t one = wasm_v128_load(&light);
    v128_t count = wasm_i32x4_splat(static_cast<int32_t>(bytes));
    asm("" : "+r"(count));  // seen as a splat, it becomes a shuffle and the product a full 64-bit one
    bytes_red_ += reinterpret_cast<Pair>(wasm_u64x2_extmul_low_u32x4(one, count));
    green_blue_ += reinterpret_cast<Pair>(wasm_u64x2_extmul_high_u32x4(one, count));
#elif defined(__SSE2__)
    const __m128i one = _mm_load_si128(reinterpret_cast<const __m128i*>(&light));
    const __m128i count = _mm_set1_epi32(static_cast<int32_t>(bytes));
    bytes_red_ += reinterpret_cast<Pair>(_mm_mul_epu32(_mm_unpacklo_epi32(one, one), count));
    green_blue_ += reinterpret_cast<Pair>(_mm_mul_epu32(_mm_unpackhi_epi32(one, one), count));
#else
    bytes_red_ += Pair{bytes, uint64_t{light.red} * bytes};
    green_blue_ += Pair{uint64_t{light.green} * bytes, uint64_t{light.blue} * bytes};
#endif
  }

  Pair bytes_red_{};
  Pair green_blue_{};
};

}  // namespace gpustrata::replay
