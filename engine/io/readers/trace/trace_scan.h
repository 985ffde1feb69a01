// Sixteen letters at once: where a string may end, where white space ends, where brackets and quotes are.
//
// Three forms of the same thing: SSE2 (every x86-64), WebAssembly SIMD, and plain C++. Nothing behind `end` is read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/base/ascii.h"

namespace gpustrata::io::traces {

#if defined(__wasm_simd128__) || defined(__SSE2__)
inline constexpr ptrdiff_t kScanned = 16;

class Letters {
 public:
#if defined(__wasm_simd128__)
  using Vector = v128_t;
  explicit Letters(const char* at) : letters_(wasm_v128_load(at)) {}
  [[nodiscard]] Vector equal(char c) const { return wasm_i8x16_eq(letters_, wasm_i8x16_splat(c)); }
  // Letters that are c or, their bit 0x20 being set, would be: '[' and '{' are 0x20 apart, and so are ']' and '}'.
  [[nodiscard]] Vector equal_or_above(char c) const {
    return wasm_i8x16_eq(wasm_v128_or(letters_, wasm_i8x16_splat(0x20)), wasm_i8x16_splat(c));
  }
  [[nodiscard]] static Vector either(Vector a, Vector b) { return wasm_v128_or(a, b); }
  [[nodiscard]] static uint32_t mask(Vector found) { return wasm_i8x16_bitmask(found); }
#else
  using Vector = __m128i;
  explicit Letters(const char* at) : letters_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))) {}
  [[nodiscard]] Vector equal(char c) const { return _mm_cmpeq_epi8(letters_, _mm_set1_epi8(c)); }
  // Letters that are c or, their bit 0x20 being set, would be: '[' and '{' are 0x20 apart, and so are ']' and '}'.
  [[nodiscard]] Vector equal_or_above(char c) const {
    return _mm_cmpeq_epi8(_mm_or_si128(letters_, _mm_set1_epi8(0x20)), _mm_set1_epi8(c));
  }
  [[nodiscard]] static Vector either(Vector a, Vector b) { return _mm_or_si128(a, b); }
  [[nodiscard]] static uint32_t mask(Vector found) { return static_cast<uint32_t>(_mm_movemask_epi8(found)); }
#endif

  [[nodiscard]] uint32_t quotes() const { return mask(equal('"')); }
  [[nodiscard]] uint32_t quotes_and_backslashes() const { return mask(either(equal('"'), equal('\\'))); }
  [[nodiscard]] uint32_t no_space() const {
    return ~mask(either(either(equal(' '), equal('\n')), either(equal('\t'), equal('\r')))) & 0xFFFF;
  }
  [[nodiscard]] uint32_t opening() const { return mask(equal_or_above('{')); }
  [[nodiscard]] uint32_t closing() const { return mask(equal_or_above('}')); }

 private:
  Vector letters_;
};
#endif

// The first quote or backslash, or `end`.
[[nodiscard]] inline const char* quote_or_backslash(const char* at, const char* end) {
#if defined(__wasm_simd128__) || defined(__SSE2__)
  for (; end - at >= kScanned; at += kScanned) {
    if (const uint32_t found = Letters(at).quotes_and_backslashes()) return at + std::countr_zero(found);
  }
#endif
  while (at < end && *at != '"' && *at != '\\') ++at;
  return at;
}

[[nodiscard]] inline const char* behind_space(const char* at, const char* end) {
  // Most often there is none, or one.
  if (at == end || !ascii::is_space(*at)) return at;
  if (++at == end || !ascii::is_space(*at)) return at;
#if defined(__wasm_simd128__) || defined(__SSE2__)
  for (; end - at >= kScanned; at += kScanned) {
    if (const uint32_t found = Letters(at).no_space()) return at + std::countr_zero(found);
  }
#endif
  while (at < end && ascii::is_space(*at)) ++at;
  return at;
}

// Walks over brackets, `depth` of them being open, to the one that closes the last of them (depth is 0 then), to the
// first quote, or to `end`. Which of the two kinds brackets are does not matter.
[[nodiscard]] inline const char* quote_or_last_bracket(const char* at, const char* end, size_t& depth) {
#if defined(__wasm_simd128__) || defined(__SSE2__)
  for (; end - at >= kScanned; at += kScanned) {
    const Letters letters(at);
    const uint32_t opening = letters.opening(), closing = letters.closing(), quotes = letters.quotes();
    uint32_t found = opening | closing | quotes;
    // As many as close before a quote cannot end it: only their number counts.
    if (quotes == 0 && static_cast<size_t>(std::popcount(closing)) < depth) {
      depth += static_cast<size_t>(std::popcount(opening)) - static_cast<size_t>(std::popcount(closing));
      continue;
    }
    for (; found != 0; found &= found - 1) {
      const uint32_t bit = found & (~found + 1);
      if (quotes & bit) return at + std::countr_zero(found);
      if (opening & bit) {
        ++depth;
      } else if (--depth == 0) {
        return at + std::countr_zero(found);
      }
    }
  }
#endif
  for (; at < end; ++at) {
    if (*at == '"') return at;
    if (*at == '{' || *at == '[') ++depth;
    if ((*at == '}' || *at == ']') && --depth == 0) return at;
  }
  return at;
}

}  // namespace gpustrata::io::traces
