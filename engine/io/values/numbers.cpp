#include "engine/io/values/numbers.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace gpustrata::io::values {

// std::bit_cast is missing from Emscripten's library.
Value real(double number) {
  Value value{Tag::real, 0, 0};
  std::memcpy(&value.num, &number, sizeof number);
  return value;
}

double double_of(const Value& real) {
  double number = 0;
  std::memcpy(&number, &real.num, sizeof number);
  return number;
}

Value integer_of_bytes(std::span<const uint8_t> bytes) {
  const size_t given = bytes.size();
  // Bytes that only repeat the sign say nothing; what is left has 9 bytes for values from 2^63 up.
  while (bytes.size() > 1) {
    const uint8_t last = bytes.back();
    const bool next_is_negative = (bytes[bytes.size() - 2] & 0x80) != 0;
    if (!(last == 0 && !next_is_negative) && !(last == 0xFF && next_is_negative)) break;
    bytes = bytes.first(bytes.size() - 1);
  }
  uint64_t number = 0;
  for (size_t i = 0; i < bytes.size() && i < 8; ++i) number |= uint64_t{bytes[i]} << (8 * i);
  if (bytes.size() <= 8) {
    if (!bytes.empty() && bytes.size() < 8 && (bytes.back() & 0x80) != 0)
      number |= ~uint64_t{0} << (8 * bytes.size());
    return {Tag::integer, 0, number};
  }
  if (bytes.size() == 9 && bytes[8] == 0) return {Tag::big_integer, 0, number};
  return {Tag::huge_integer, 0, given};
}

std::optional<Value> integer_of_text(std::string_view text) {
  if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  uint64_t number = 0;
  bool huge = false;
  constexpr size_t kAlwaysFit = 19;  // digits
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    const auto digit = static_cast<uint64_t>(text[i] - '0');
    huge = huge || (i >= kAlwaysFit && number > (UINT64_MAX - digit) / 10);
    number = number * 10 + digit;
  }
  constexpr uint64_t kTooFar = uint64_t{1} << 63;
  if (huge || (negative && number > kTooFar)) return Value{Tag::huge_integer, 0, text.size()};
  if (negative) return Value{Tag::integer, 0, ~number + 1};
  return Value{number >= kTooFar ? Tag::big_integer : Tag::integer, 0, number};
}

std::optional<Value> real_of_text(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size()) return std::nullopt;
  return real(number);
}

}  // namespace gpustrata::io::values
