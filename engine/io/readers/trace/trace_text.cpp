#include "engine/io/readers/trace/trace_text.h"

#include <algorithm>
#include <array>

#include "engine/base/utf8.h"

namespace gpustrata::io::traces {

namespace {

// "key": a name of letters, digits, spaces and underscores. The end of the text is no reason against it.
[[nodiscard]] bool is_key(const char* at, const char* end) {
  if (*at != '"') return false;
  const auto belongs = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' || c == '_';
  };
  for (++at; at < end && belongs(*at);) ++at;
  if (at < end && *at != '"') return false;
  at = at < end ? behind_space(at + 1, end) : end;
  return at == end || *at == ':';
}

// A string that goes on into the next event has lost its end.
[[nodiscard]] bool holds_event(std::string_view text) {
  return text.find('\n') != std::string_view::npos || text.find("},{") != std::string_view::npos ||
         text.find("}, {") != std::string_view::npos;
}

// Longer strings with quotes inside are no names.
constexpr ptrdiff_t kLongestLenient = ptrdiff_t{16} << 10;

}  // namespace

// Is the quote before `behind` the end of its string? Looks further than JSON needs, because generated names hold
// whole objects: {"device": "cpu"}.
bool Text::ends_string(const char* behind, Part part) const {
  const char* at = behind_space(behind, end_);
  if (at == end_) return true;
  if (*at == ':') return part != Part::value;
  const char* further = behind_space(at + 1, end_);
  if (*at == ',') return part == Part::any || further == end_ || *further == '}' || is_key(further, end_);
  if (*at != '}' && *at != ']') return false;
  return further == end_ || *further == ',' || *further == '}' || *further == ']';
}

bool Text::string(Value& found, Part part) {
  const char* first = ++at_;
  found = {Value::Kind::string, false, {}};
  for (;;) {
    at_ = quote_or_backslash(at_, end_);
    if (at_ >= end_) break;
    if (*at_ == '\\') {
      found.has_escapes = true;
      at_ += 2;
      continue;
    }
    const char* quote = at_++;
    if (how_ == How::strict || part == Part::key || ends_string(at_, part)) {
      found.text = {first, static_cast<size_t>(quote - first)};
      return how_ == How::strict || !holds_event(found.text);
    }
    if (at_ - first > kLongestLenient) return false;
  }
  at_ = end_;
  ended_ = true;
  return false;
}

// Brackets outside of strings are counted; which of the two kinds they are does not matter here.
bool Text::container() {
  size_t depth = 0;
  for (;;) {
    at_ = quote_or_last_bracket(at_, end_, depth);
    if (at_ >= end_) break;
    if (depth == 0) {
      ++at_;
      return true;
    }
    Value skipped;
    if (!string(skipped, Part::any)) return false;
  }
  ended_ = true;
  return false;
}

bool Text::key_slowly(std::string_view& found) {
  Value value;
  if (!string(value, Part::key)) return false;
  found = value.text;
  return true;
}

namespace {

constexpr std::array<int64_t, 10> kPowers = {1,       10,        100,        1'000,       10'000,
                                             100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

// Numbers of at most 18 letters, digits and one dot: nearly all there are. False: not one of them, or too large.
[[nodiscard]] bool short_integer(std::string_view text, int shift, int64_t& value) {
  if (text.empty() || text.size() > 18 || shift < 0 || !is_digit(text[0])) return false;
  uint64_t digits = 0;
  size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at)
    digits = digits * 10 + static_cast<uint64_t>(text[at] - '0');
  int behind = 0;  // the dot
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && is_digit(text[at]); ++at, ++behind)
      digits = digits * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  if (at != text.size() || behind > 9 || shift - behind > 9) return false;
  value = static_cast<int64_t>(digits);
  if (behind <= shift)
    return !__builtin_mul_overflow(value, kPowers[static_cast<size_t>(shift - behind)], &value);
  value /= kPowers[static_cast<size_t>(behind - shift)];
  return true;
}

// Digits with a power of ten, before they become a number.
struct Decimal {
  bool negative = false;
  unsigned __int128 digits = 0;
  int64_t exponent = 0;
};

[[nodiscard]] bool decimal_of(std::string_view text, Decimal& found) {
  constexpr auto kMost = static_cast<unsigned __int128>(1) << 100;  // what follows cannot change 64 bits
  size_t at = 0;
  found = {};
  if (at < text.size() && text[at] == '-') {
    found.negative = true;
    ++at;
  }
  const size_t first = at;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
    } else if (found.digits < kMost) {
      found.digits = found.digits * 10 + static_cast<unsigned>(text[at] - '0');
      found.exponent -= fraction ? 1 : 0;
    } else {
      found.exponent += fraction ? 0 : 1;
    }
  }
  if (at == first) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  const bool down = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  int64_t power = 0;
  const size_t digits = at;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    power = std::min<int64_t>(power * 10 + (text[at] - '0'), 1'000'000'000);
  }
  found.exponent += down ? -power : power;
  return at == text.size() && at > digits;
}

// |number| x 10^shift, rounded down. False: more than 2^100.
[[nodiscard]] bool scaled(const Decimal& number, int shift, unsigned __int128& value) {
  constexpr auto kMost = static_cast<unsigned __int128>(1) << 100;
  value = number.digits;
  int64_t exponent = number.exponent + shift;
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > kMost) return false;
    value *= 10;
  }
  for (; exponent < 0 && value != 0; ++exponent) value /= 10;
  return true;
}

}  // namespace

Number integer_of(std::string_view number, int shift, int64_t& value) {
  if (short_integer(number, shift, value)) return Number::fits;
  Decimal decimal;
  unsigned __int128 size = 0;
  if (!decimal_of(number, decimal)) return Number::none;
  constexpr auto kMost = static_cast<unsigned __int128>(INT64_MAX);
  if (!scaled(decimal, shift, size) || size > kMost + (decimal.negative ? 1 : 0)) return Number::too_large;
  // The most negative number has no positive one.
  value = decimal.negative ? static_cast<int64_t>(-static_cast<__int128>(size)) : static_cast<int64_t>(size);
  return Number::fits;
}

Number unsigned_of(std::string_view number, uint64_t& value) {
  if (int64_t small = 0; short_integer(number, 0, small)) {
    value = static_cast<uint64_t>(small);
    return Number::fits;
  }
  Decimal decimal;
  unsigned __int128 size = 0;
  if (!decimal_of(number, decimal)) return Number::none;
  if (decimal.negative || !scaled(decimal, 0, size) || size > UINT64_MAX) return Number::too_large;
  value = static_cast<uint64_t>(size);
  return Number::fits;
}

namespace {

// What the letter behind a backslash stands for; '\0': nothing.
[[nodiscard]] char plain_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

[[nodiscard]] std::optional<uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    code = code * 16 + static_cast<uint32_t>(digit);
  }
  return code;
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find('\\', at), text.size());
    plain += text.substr(at, next - at);
    at = next;
    if (at + 1 >= text.size()) {
      plain += text.substr(at);
      break;
    }
    const char letter = plain_escape(text[at + 1]);
    const auto code = text[at + 1] == 'u' ? hex4(text.substr(at + 2)) : std::nullopt;
    if (code) {
      at += 6;
      const bool high = *code >= 0xD800 && *code < 0xDC00;
      const auto low = high && text.substr(at).starts_with("\\u") ? hex4(text.substr(at + 2)) : std::nullopt;
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        utf8::append(plain, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
        at += 6;
      } else {
        utf8::append(plain, *code);
      }
    } else if (letter != '\0') {
      plain += letter;
      at += 2;
    } else {
      plain += '\\';
      at += 1;
    }
  }
  return plain;
}

}  // namespace gpustrata::io::traces
