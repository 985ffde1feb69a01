// Operands as the pickle protocols write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpustrata::io::pickle {

[[nodiscard]] inline uint16_t load_u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
[[nodiscard]] inline uint32_t load_u32(const uint8_t* p) {
  return uint32_t{p[0]} | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
}
[[nodiscard]] inline uint64_t load_u64(const uint8_t* p) {
  return uint64_t{load_u32(p)} | uint64_t{load_u32(p + 4)} << 32;
}

// Operand of UNICODE (raw-unicode-escape) as UTF-8, surrogates encoded like any other code point.
[[nodiscard]] std::string text_of_raw_unicode(std::string_view line);
// Operand of STRING: a quoted Python 2 literal. None if the quotes are missing.
[[nodiscard]] std::optional<std::string> text_of_literal(std::string_view line);

}  // namespace gpustrata::io::pickle
