// UTF-8 as files really have it: valid, cut, or with surrogates in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpustrata::utf8 {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Sequence {
  size_t length;  // bytes to take together, >= 1
  bool valid;     // false: stands for one U+FFFD
};

// What begins at text[at]. An encoded surrogate (ED A0..BF xx) is one invalid sequence of three bytes; of a
// cut sequence the bytes that belong together are taken at once, as browsers do.
[[nodiscard]] Sequence sequence_at(std::string_view text, size_t at);

// Of one valid sequence.
[[nodiscard]] uint32_t code_point(std::string_view sequence);

// U+0000 to U+001F, U+007F to U+009F: a terminal obeys them, nobody can read them. `sequence` is what begins
// at text[at], and valid.
[[nodiscard]] inline bool is_control(std::string_view text, size_t at, Sequence sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (sequence.length == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  return sequence.length == 2 && byte(0) == 0xC2 && byte(1) < 0xA0;
}

// `text` with everything invalid replaced.
[[nodiscard]] std::string sanitized(std::string_view text);

// `text` if it has at most `bytes` bytes, else its beginning in whole characters and "…".
[[nodiscard]] std::string cut(std::string_view text, size_t bytes);

// Places of a text in other programs count UTF-16 units: those of its first `bytes` bytes, and back. Beyond
// its end: the end. Inside of a character: behind it.
[[nodiscard]] int64_t units_before(std::string_view text, size_t bytes);
[[nodiscard]] size_t bytes_before(std::string_view text, size_t units);

// Adds a code point up to U+10FFFF; surrogates like any other.
void append(std::string& text, uint32_t code_point);

}  // namespace gpustrata::utf8
