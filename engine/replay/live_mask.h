// Which of 64 neighbouring blocks are still live after an event? The inner loop of the timeline.
//
// Three forms of the same thing: SSE2 (every x86-64), WebAssembly SIMD, and plain C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gpustrata::replay {

struct LiveMask {
  uint64_t live = 0;          // bit i: block i is freed later than the event (and born by then)
  int32_t until = INT32_MAX;  // earliest free among those, or birth of another: so long nothing changes
};

// The first `count` <= 64 values of `freed`.
[[nodiscard]] inline LiveMask live_mask_of(const int32_t* freed, size_t count, int32_t event) {
  LiveMask mask;
  for (size_t i = 0; i < count; ++i) {
    if (freed[i] <= event) continue;
    mask.live |= uint64_t{1} << i;
    mask.until = std::min(mask.until, freed[i]);
  }
  return mask;
}

// The same where some are not born yet: those with a later value of `born`.
[[nodiscard]] inline LiveMask live_mask_of(const int32_t* born, const int32_t* freed, size_t count,
                                           int32_t event) {
  LiveMask mask;
  for (size_t i = 0; i < count; ++i) {
    const bool is_born = born[i] <= event;
    const bool counts = freed[i] > event && freed[i] > born[i];
    mask.live |= uint64_t{is_born && counts} << i;
    mask.until = std::min(mask.until, !counts ? INT32_MAX : is_born ? freed[i] : born[i]);
  }
  return mask;
}

// All 64.
[[nodiscard]] inline LiveMask live_mask_of_64(const int32_t* freed, int32_t event) {
#if defined(__wasm_simd128__)
  LiveMask mask;
  const v128_t now = wasm_i32x4_splat(event);
  const v128_t never = wasm_i32x4_splat(INT32_MAX);
  v128_t until = never;
  for (size_t i = 0; i < 64; i += 4) {
    const v128_t value = wasm_v128_load(freed + i);
    const v128_t later = wasm_i32x4_gt(value, now);
    mask.live |= static_cast<uint64_t>(wasm_i32x4_bitmask(later)) << i;
    until = wasm_i32x4_min(until, wasm_v128_bitselect(value, never, later));
  }
  int32_t lanes[4];
  wasm_v128_store(lanes, until);
  mask.until = std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
  return mask;
#elif defined(__SSE2__)
  LiveMask mask;
  const __m128i now = _mm_set1_epi32(event);
  __m128i until = _mm_set1_epi32(INT32_MAX);
  for (size_t i = 0; i < 64; i += 4) {
    const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(freed + i));
    const __m128i later = _mm_cmpgt_epi32(value, now);
    mask.live |= static_cast<uint64_t>(_mm_movemask_ps(_mm_castsi128_ps(later))) << i;
    const __m128i earlier = _mm_and_si128(later, _mm_cmplt_epi32(value, until));
    until = _mm_or_si128(_mm_and_si128(earlier, value), _mm_andnot_si128(earlier, until));
  }
  alignas(16) int32_t lanes[4];
  _mm_store_si128(reinterpret_cast<__m128i*>(lanes), until);
  mask.until = std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
  return mask;
#else
  return live_mask_of(freed, 64, event);
#endif
}

}  // namespace gpustrata::replay
