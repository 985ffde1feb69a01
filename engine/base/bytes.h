// Comparing and loading bytes in the places where every nanosecond is paid a million times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpustrata {

[[nodiscard]] inline uint64_t load_word(const void* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// memcmp() == 0 for `length` >= 8. Inline, and by words: that of musl (WebAssembly) goes byte by byte.
[[nodiscard]] inline bool same_bytes(const uint8_t* a, const uint8_t* b, size_t length) {
  const uint8_t* const last = a + (length - 8);
  const ptrdiff_t to_b = b - a;
  for (; last - a >= 32; a += 32) {
    const uint64_t different =
        (load_word(a) ^ load_word(a + to_b)) | (load_word(a + 8) ^ load_word(a + to_b + 8)) |
        (load_word(a + 16) ^ load_word(a + to_b + 16)) | (load_word(a + 24) ^ load_word(a + to_b + 24));
    if (different != 0) return false;
  }
  for (; a < last; a += 8) {
    if (load_word(a) != load_word(a + to_b)) return false;
  }
  return load_word(last) == load_word(last + to_b);  // overlaps what was compared
}

}  // namespace gpustrata
