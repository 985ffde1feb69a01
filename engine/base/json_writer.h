// Builds JSON text, one line, no spaces.
//
// Commas are put where they belong; keys and values must come in an order that makes sense (a debug build
// does not check it, a test of the caller does). Texts may hold any bytes: what is not UTF-8, lone
// surrogates included, becomes U+FFFD; control characters, DEL and U+0080 to U+009F too, are escaped, so that
// the text can be shown in a terminal. Integers are exact to 64 bits. Doubles are the shortest text that
// reads back as the same double, always with a point or an exponent; NaN and infinities become null.
//
// A text that grows with a file is not held: a writer made with a `Take` gives it away in pieces.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gpustrata {

class JsonWriter {
 public:
  // Takes the next piece of the text, about kPieceBytes. False: nothing more is wanted.
  using Take = std::function<bool(std::string_view)>;
  static constexpr size_t kPieceBytes = size_t{64} << 10;

  JsonWriter() = default;
  explicit JsonWriter(Take take) : take_(std::move(take)) {}

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

  // The rest goes to `take`. False: it has refused a piece.
  [[nodiscard]] bool finish();
  [[nodiscard]] bool refused() const { return refused_; }
  // Bytes so far, taken or not.
  [[nodiscard]] size_t size() const { return taken_ + text_.size(); }

  // What is not taken yet: all of it without a `take`.
  [[nodiscard]] const std::string& text() const& { return text_; }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void comma();
  void open(char bracket);
  void quote(std::string_view text);
  void signed_value(int64_t number);
  void unsigned_value(uint64_t number);
  void pass_on(size_t bytes);

  std::string text_;
  Take take_;
  size_t taken_ = 0;
  bool refused_ = false;
};

}  // namespace gpustrata
