#include "engine/io/encodings/pickle/operands.h"

#include "engine/base/utf8.h"

namespace gpustrata::io::pickle {

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

}  // namespace gpustrata::io::pickle
