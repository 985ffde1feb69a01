// JSON text, as the tables keep unknown data, turned back into values of an output.
//
// The text can come from any reader, so it is checked first: what is no JSON (RFC 8259), or nests deeper than
// kMaxWrittenDepth, is written as a text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/json_lexer.h"

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
  JsonValues(std::string_view text, Output& output) : lexer_(text, JsonTexts::any), out_(output) {}
  // False if the text is no JSON; then the output got a part of it.
  [[nodiscard]] bool run() { return value(0) && lexer_.is_at_end(); }

 private:
  [[nodiscard]] bool value(int depth) {
    switch (lexer_.next()) {
      case '{':
        return depth < kMaxWrittenDepth && object(depth);
      case '[':
        return depth < kMaxWrittenDepth && array(depth);
      case '"': {
        std::string text;
        if (!lexer_.text(text)) return false;
        out_.value(std::string_view(text));
        return true;
      }
      case 't':
        if (!lexer_.take("true")) return false;
        out_.value(true);
        return true;
      case 'f':
        if (!lexer_.take("false")) return false;
        out_.value(false);
        return true;
      case 'n':
        if (!lexer_.take("null")) return false;
        out_.none();
        return true;
      default:
        return number();
    }
  }

  [[nodiscard]] bool object(int depth) {
    if (!lexer_.take("{")) return false;
    out_.begin_dict();
    if (!lexer_.take("}")) {
      do {
        std::string name;
        if (!lexer_.text(name) || !lexer_.take(":")) return false;
        out_.key(std::string_view(name));
        if (!value(depth + 1)) return false;
      } while (lexer_.take(","));
      if (!lexer_.take("}")) return false;
    }
    out_.end_dict();
    return true;
  }

  [[nodiscard]] bool array(int depth) {
    if (!lexer_.take("[")) return false;
    out_.begin_list();
    if (!lexer_.take("]")) {
      do {
        out_.item();
        if (!value(depth + 1)) return false;
      } while (lexer_.take(","));
      if (!lexer_.take("]")) return false;
    }
    out_.end_list();
    return true;
  }

  [[nodiscard]] bool number() {
    bool whole = false;
    const std::string_view text = lexer_.number(whole);
    if (text.empty()) return false;
    if (!whole) {
      out_.value(json_double(text));
      return true;
    }
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

  JsonLexer lexer_;
  Output& out_;
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
