// The form of a number in JSON (RFC 8259).
#pragma once

#include <cstddef>
#include <string_view>

namespace gpustrata {

struct JsonNumber {
  size_t length = 0;  // 0: no number
  bool whole = true;  // neither point nor exponent
};

// The number that the text begins with.
[[nodiscard]] constexpr JsonNumber json_number(std::string_view text) {
  size_t at = 0;
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto digits = [&] {
    const size_t start = at;
    while (peek() >= '0' && peek() <= '9') ++at;
    return at - start;
  };
  JsonNumber number;
  if (peek() == '-') ++at;
  const bool zero = peek() == '0';
  const size_t before_point = digits();
  if (before_point == 0 || (zero && before_point > 1)) return {};
  if (peek() == '.') {
    number.whole = false;
    ++at;
    if (digits() == 0) return {};
  }
  if (peek() == 'e' || peek() == 'E') {
    number.whole = false;
    ++at;
    if (peek() == '+' || peek() == '-') ++at;
    if (digits() == 0) return {};
  }
  number.length = at;
  return number;
}

}  // namespace gpustrata
