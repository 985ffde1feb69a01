#include "engine/io/pickle/numbers.h"

#include <cstdlib>
#include <cstring>

#include "engine/base/utf8.h"

namespace memstrata::io::pickle {

namespace {

[[nodiscard]] int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `digits` hexadecimal digits at text[at], -1 if there are fewer.
[[nodiscard]] int64_t hex_number(std::string_view text, size_t at, size_t digits) {
  if (at + digits > text.size()) return -1;
  int64_t number = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int digit = hex_digit(text[at + i]);
    if (digit < 0) return -1;
    number = number * 16 + digit;
  }
  return number;
}

}  // namespace

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

std::string text_of_raw_unicode(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\\' && at + 1 < line.size() && (line[at + 1] == 'u' || line[at + 1] == 'U')) {
      const size_t digits = line[at + 1] == 'u' ? 4 : 8;
      const int64_t code = hex_number(line, at + 2, digits);
      if (code >= 0 && code <= 0x10FFFF) {
        utf8::append(text, static_cast<uint32_t>(code));
        at += 1 + digits;
        continue;
      }
    }
    utf8::append(text, static_cast<uint8_t>(c));  // other bytes are Latin-1
  }
  return text;
}

std::optional<std::string> text_of_literal(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"')) {
    return std::nullopt;
  }
  line = line.substr(1, line.size() - 2);
  std::string text;
  text.reserve(line.size());
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      text += line[at];
      continue;
    }
    switch (const char c = line[++at]) {
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      case 'x': {
        const int64_t code = hex_number(line, at + 1, 2);
        if (code < 0) {
          text += "\\x";
        } else {
          text += static_cast<char>(static_cast<uint8_t>(code));
          at += 2;
        }
        break;
      }
      case '\\':
      case '\'':
      case '"':
        text += c;
        break;
      default:
        text += '\\';
        text += c;
    }
  }
  return text;
}

}  // namespace memstrata::io::pickle
