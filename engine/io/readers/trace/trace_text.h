// Text of events in traces of profilers: nearly JSON. Older writers leave quotes and control characters in names as
// they are, numbers may be NaN, a list may end with a comma.
//
// Hand-written and not simdjson, which refuses a whole batch for one such character and makes numbers doubles: here a
// number is its letters, exact to 64 bits, and a value that nobody asks for is only walked over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/ascii.h"
#include "engine/io/readers/trace/trace_scan.h"

namespace gpustrata::io::traces {

// A value as it stands in the text; `text` of a string is what lies between its quotes, escapes and all.
struct Value {
  enum class Kind : uint8_t { absent, number, string, container, word };
  Kind kind = Kind::absent;
  bool has_escapes = false;
  std::string_view text;
};

[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Text {
 public:
  enum class How : uint8_t {
    strict,   // a string ends at its first quote
    lenient,  // quotes that cannot be its end belong to it
  };
  explicit Text(std::string_view text, size_t at = 0, How how = How::strict)
      : begin_(text.data()), at_(text.data() + at), end_(text.data() + text.size()), how_(how) {}

  [[nodiscard]] size_t place() const { return static_cast<size_t>(at_ - begin_); }
  // Walks over white space. '\0' at the end of the text.
  [[nodiscard]] char next() {
    at_ = behind_space(at_, end_);
    if (at_ < end_) return *at_;
    ended_ = true;
    return '\0';
  }
  void skip() { ++at_; }
  // The next value, whole. False: it is none, or the text ends inside of it (`ended()`).
  [[nodiscard]] bool value(Value& found) {
    const char first = next();
    const char* begin = at_;
    if (at_ == end_) return false;
    if (first == '"') {
      found = {Value::Kind::string, false, {}};
      return plain_string(found.text) || string(found, Part::value);
    }
    if (first == '{' || first == '[') {
      if (!container()) return false;
      found = {Value::Kind::container, false, {begin, static_cast<size_t>(at_ - begin)}};
      return true;
    }
    while (at_ < end_ && !ends_scalar(*at_)) ++at_;
    if (at_ == end_) {
      ended_ = true;
      return false;
    }
    if (at_ == begin) return false;
    const bool is_number = is_digit(first) || (first == '-' && at_ > begin + 1 && is_digit(begin[1]));
    found = {is_number ? Value::Kind::number : Value::Kind::word,
             false,
             {begin, static_cast<size_t>(at_ - begin)}};
    return true;
  }
  // The key of a member and its colon.
  [[nodiscard]] bool key(std::string_view& found) {
    if (next() != '"' || (!plain_string(found) && !key_slowly(found)) || next() != ':') return false;
    skip();
    return true;
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  enum class Part : uint8_t { key, value, any };  // what a string is of its object
  [[nodiscard]] static bool ends_scalar(char c) {
    return c == ',' || c == '}' || c == ']' || c == '"' || ascii::is_space(c);
  }
  // A string without escapes, which begins here and ends at its first quote. False: it is another one, nothing was read.
  [[nodiscard]] bool plain_string(std::string_view& found) {
    if (how_ != How::strict) return false;
    const char* end = quote_or_backslash(at_ + 1, end_);
    if (end == end_ || *end != '"') return false;
    found = {at_ + 1, static_cast<size_t>(end - at_ - 1)};
    at_ = end + 1;
    return true;
  }
  [[nodiscard]] bool key_slowly(std::string_view& found);
  [[nodiscard]] bool string(Value& found, Part part);
  [[nodiscard]] bool container();
  [[nodiscard]] bool ends_string(const char* behind, Part part) const;

  const char* begin_;
  const char* at_;
  const char* end_;
  How how_;
  bool ended_ = false;
};

// Calls `member(key, text)` for each member of the object that begins at `text`; it walks over the value and tells whether
// that was whole. Behind the object afterwards. False as Text::value. `odd`: a comma with nothing behind it.
template <typename Member>
[[nodiscard]] bool each_key(Text& text, bool& odd, Member member) {
  if (text.next() != '{') return false;
  text.skip();
  if (text.next() == '}') {
    text.skip();
    return true;
  }
  for (;;) {
    std::string_view key;
    if (!text.key(key) || !member(key, text)) return false;
    const char behind = text.next();
    if (behind == '}') break;
    if (behind != ',') return false;
    text.skip();
    if (text.next() == '}') {
      odd = true;
      break;
    }
  }
  text.skip();
  return true;
}

// The same with `member(key, value)`.
template <typename Member>
[[nodiscard]] bool each_member(Text& text, bool& odd, Member member) {
  return each_key(text, odd, [&](std::string_view key, Text& rest) {
    Value value;
    if (!rest.value(value)) return false;
    member(key, value);
    return true;
  });
}

enum class Number : uint8_t { fits, too_large, none };

// number x 10^shift, exact; what is smaller than 1 is cut off: "12.3456" with shift 3 is 12345.
[[nodiscard]] Number integer_of(std::string_view number, int shift, int64_t& value);
// 0 to 2^64 - 1.
[[nodiscard]] Number unsigned_of(std::string_view number, uint64_t& value);

// What the escapes of a string stand for; what is none stays as it is.
[[nodiscard]] std::string unescaped(std::string_view text);

}  // namespace gpustrata::io::traces
