// JSON text, as the tables keep unknown data, turned back into values of an output.
//
// The text can come from any reader, so it is checked first: what is no JSON (RFC 8259), or nests deeper than
// kMaxWrittenDepth, is written as a text.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/utf8.h"
#include "engine/io/encodings/json/number.h"

namespace gpustrata::io {

inline constexpr int kMaxWrittenDepth = 100;

// Takes the calls of an output and does nothing.
struct NoOutput {
  void begin_dict() {}
  void key(std::string_view) {}
  void end_dict() {}
  void begin_list() {}
  void item() {}
  void end_list() {}
  template <typename T>
  void value(T) {}
  void unsigned_value(uint64_t) {}
  void none() {}
};

template <typename Output>
class JsonValues {
 public:
  JsonValues(std::string_view text, Output& output) : text_(text), out_(output) {}
  // False if the text is no JSON; then the output got a part of it.
  [[nodiscard]] bool run() {
    if (!value(0)) return false;
    space();
    return at_ == text_.size();
  }

 private:
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool take(char c) {
    space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool word(std::string_view text) {
    if (!text_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  [[nodiscard]] bool value(int depth) {
    space();
    switch (peek()) {
      case '{':
        return depth < kMaxWrittenDepth && object(depth);
      case '[':
        return depth < kMaxWrittenDepth && array(depth);
      case '"': {
        const auto text = string();
        if (text) out_.value(std::string_view(*text));
        return text.has_value();
      }
      case 't':
        if (!word("true")) return false;
        out_.value(true);
        return true;
      case 'f':
        if (!word("false")) return false;
        out_.value(false);
        return true;
      case 'n':
        if (!word("null")) return false;
        out_.none();
        return true;
      default:
        return number();
    }
  }

  [[nodiscard]] bool object(int depth) {
    ++at_;
    out_.begin_dict();
    if (!take('}')) {
      do {
        space();
        const auto name = string();
        if (!name || !take(':')) return false;
        out_.key(std::string_view(*name));
        if (!value(depth + 1)) return false;
      } while (take(','));
      if (!take('}')) return false;
    }
    out_.end_dict();
    return true;
  }

  [[nodiscard]] bool array(int depth) {
    ++at_;
    out_.begin_list();
    if (!take(']')) {
      do {
        out_.item();
        if (!value(depth + 1)) return false;
      } while (take(','));
      if (!take(']')) return false;
    }
    out_.end_list();
    return true;
  }

  [[nodiscard]] bool number() {
    const auto [length, whole] = json_number(text_.substr(at_));
    if (length == 0) return false;
    const std::string_view text = text_.substr(at_, length);
    at_ += length;
    if (whole) {
      int64_t number = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()) {
        out_.value(number);
        return true;
      }
      uint64_t large = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), large).ec == std::errc()) {
        out_.unsigned_value(large);
        return true;
      }
      out_.value(text);  // more than 64 bits: its digits
      return true;
    }
    // No locale but "C" is ever set; libc++ of em++ 3.1.6 lacks from_chars for doubles.
    out_.value(std::strtod(std::string(text).c_str(), nullptr));
    return true;
  }

  [[nodiscard]] std::optional<uint32_t> hex4() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const uint32_t nibble = c >= '0' && c <= '9'   ? static_cast<uint32_t>(c - '0')
                              : c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a' + 10)
                              : c >= 'A' && c <= 'F' ? static_cast<uint32_t>(c - 'A' + 10)
                                                     : 16;
      if (nibble == 16) return std::nullopt;
      code = code << 4 | nibble;
    }
    return code;
  }

  // What follows "\u".
  [[nodiscard]] bool escaped_code(std::string& text) {
    auto code = hex4();
    if (!code) return false;
    if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const size_t second = at_;
      at_ += 2;
      const auto low = hex4();
      if (!low) return false;
      if (*low >= 0xDC00 && *low < 0xE000) {
        code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
      } else {
        at_ = second;  // a lone surrogate, and something else
      }
    }
    utf8::append(text, *code);
    return true;
  }

  [[nodiscard]] std::optional<std::string> string() {
    if (peek() != '"') return std::nullopt;
    ++at_;
    std::string text;
    for (;;) {
      const size_t stop = text_.find_first_of("\"\\", at_);
      if (stop == std::string_view::npos) return std::nullopt;
      text += text_.substr(at_, stop - at_);
      at_ = stop + 1;
      if (text_[stop] == '"') return text;
      const char escape = peek();
      ++at_;
      switch (escape) {
        case '"':
        case '\\':
        case '/':
          text += escape;
          break;
        case 'b':
          text += '\b';
          break;
        case 'f':
          text += '\f';
          break;
        case 'n':
          text += '\n';
          break;
        case 'r':
          text += '\r';
          break;
        case 't':
          text += '\t';
          break;
        case 'u':
          if (!escaped_code(text)) return std::nullopt;
          break;
        default:
          return std::nullopt;
      }
    }
  }

  std::string_view text_;
  Output& out_;
  size_t at_ = 0;
};

template <typename Output>
void write_json_value(std::string_view text, Output& output) {
  NoOutput nothing;
  if (JsonValues<NoOutput>(text, nothing).run()) {
    (void)JsonValues<Output>(text, output).run();
  } else {
    output.value(text);
  }
}

}  // namespace gpustrata::io
