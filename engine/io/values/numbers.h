// Numbers as values, and from what encodings write.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/io/values/value.h"

namespace gpustrata::io::values {

inline constexpr double kMebibyte = 1048576.0;

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

}  // namespace gpustrata::io::values
