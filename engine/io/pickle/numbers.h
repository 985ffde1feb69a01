// Numbers and texts as the pickle protocols write them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/pickle/value.h"

namespace memstrata::io::pickle {

[[nodiscard]] inline uint16_t load_u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
[[nodiscard]] inline uint32_t load_u32(const uint8_t* p) {
  return uint32_t{p[0]} | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
}
[[nodiscard]] inline uint64_t load_u64(const uint8_t* p) {
  return uint64_t{load_u32(p)} | uint64_t{load_u32(p + 4)} << 32;
}

[[nodiscard]] constexpr Value integer(int64_t number) {
  return {Tag::integer, 0, static_cast<uint64_t>(number)};
}
[[nodiscard]] Value real(double number);
[[nodiscard]] double double_of(const Value& real);

// Two's complement, little endian, any length: `integer`, `big_integer` or `huge_integer`.
[[nodiscard]] Value integer_of_bytes(std::span<const uint8_t> bytes);
// Decimal text with an optional sign and a trailing L. None if it is something else.
[[nodiscard]] std::optional<Value> integer_of_text(std::string_view text);
[[nodiscard]] std::optional<Value> real_of_text(std::string_view text);

// Operand of UNICODE (raw-unicode-escape) as UTF-8, surrogates encoded like any other code point.
[[nodiscard]] std::string text_of_raw_unicode(std::string_view line);
// Operand of STRING: a quoted Python 2 literal. None if the quotes are missing.
[[nodiscard]] std::optional<std::string> text_of_literal(std::string_view line);

}  // namespace memstrata::io::pickle
