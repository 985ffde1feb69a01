// Builds JSON text, one line, no spaces.
//
// Commas are put where they belong; keys and values must come in an order that makes sense (a debug build
// does not check it, a test of the caller does). Texts may hold any bytes: what is not UTF-8, lone
// surrogates included, becomes U+FFFD; control characters, DEL and U+0080 to U+009F too, are escaped, so that
// the text can be shown in a terminal. Integers are exact to 64 bits. Doubles are the shortest text that
// reads back as the same double, always with a point or an exponent; NaN and infinities become null.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace memstrata {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { text_ += '}'; }
  void begin_array() { open('['); }
  void end_array() { text_ += ']'; }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(std::same_as<bool> auto flag) { raw(flag ? "true" : "false"); }
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) void value(Int number) {
    if constexpr (std::is_signed_v<Int>) {
      signed_value(number);
    } else {
      unsigned_value(number);
    }
  }
  void value(double number);
  template <typename T>
  void value(const std::optional<T>& maybe) {
    if (maybe) {
      value(*maybe);
    } else {
      null();
    }
  }
  void null() { raw("null"); }
  // A value that is JSON text already.
  void raw(std::string_view json);

  template <typename T>
  void member(std::string_view name, const T& what) {
    key(name);
    value(what);
  }

  // Gives all but the last byte to `take(std::string_view)` and forgets it: long texts are written in pieces.
  template <typename Take>
  void drain(Take&& take) {
    if (text_.size() < 2) return;
    take(std::string_view(text_).substr(0, text_.size() - 1));
    text_.erase(0, text_.size() - 1);  // commas depend on the last byte
  }

  [[nodiscard]] const std::string& text() const& { return text_; }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void comma();
  void open(char bracket);
  void quote(std::string_view text);
  void signed_value(int64_t number);
  void unsigned_value(uint64_t number);

  std::string text_;
};

}  // namespace memstrata
