#include "engine/base/json_value.h"

#include <bit>
#include <cmath>
#include <utility>

#include "engine/base/utf8.h"

namespace gpustrata {

namespace {

using Wide = unsigned __int128;

constexpr int kExactPowers = 27;  // 5^27 is below 2^63

[[nodiscard]] uint64_t power_of_5(int exponent) {
  uint64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 5;
  return power;
}

// digits * 10^exponent. 10^e = 5^e * 2^e, so that only the power of 5 costs bits.
[[nodiscard]] double scaled(uint64_t digits, int64_t exponent) {
  if (digits == 0) return 0;
  if (exponent >= 0 && exponent <= kExactPowers) {
    const int e = static_cast<int>(exponent);
    return std::ldexp(static_cast<double>(Wide{digits} * power_of_5(e)), e);
  }
  if (exponent < 0 && exponent >= -kExactPowers) {
    const int e = static_cast<int>(-exponent);
    const int shift = 63 + std::countl_zero(digits);
    const Wide dividend = Wide{digits} << shift;
    const Wide divisor = power_of_5(e);
    // The lowest bit says that there was a rest: half way is then not half way.
    const Wide quotient = dividend / divisor | (dividend % divisor != 0 ? 1U : 0U);
    return std::ldexp(static_cast<double>(quotient), -shift - e);
  }
  double value = static_cast<double>(digits);
  for (; exponent > 0 && std::isfinite(value); --exponent) value *= 10;
  for (; exponent < 0 && value > 0; ++exponent) value /= 10;
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonValue> parse() {
    JsonValue value;
    if (read(value, 0)) {
      skip_spaces();
      if (at_ != text_.size()) (void)refuse("text follows the JSON value");
    }
    if (error_.message.empty()) return value;
    return tl::unexpected(std::move(error_));
  }

 private:
  bool refuse(const char* why, ErrorCode code = ErrorCode::invalid_format) {
    if (error_.message.empty()) error_ = {code, why, static_cast<int64_t>(at_), {}};
    return false;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool read(JsonValue& value, int depth) {
    if (++values_ > kMostJsonValues) return refuse("too many JSON values", ErrorCode::limit_exceeded);
    skip_spaces();
    switch (peek()) {
      case '{':
      case '[':
        if (depth == kDeepestJson) return refuse("JSON that is too deep", ErrorCode::limit_exceeded);
        return peek() == '{' ? read_object(value, depth) : read_list(value, depth);
      case '"':
        value.kind = JsonValue::Kind::text;
        return read_text(value.text);
      case 't':
      case 'f':
        value.kind = JsonValue::Kind::flag;
        value.flag = peek() == 't';
        return take(value.flag ? "true" : "false") || refuse("no JSON value");
      case 'n':
        return take("null") || refuse("no JSON value");
      default:
        value.kind = JsonValue::Kind::number;
        return read_number(value.number);
    }
  }

  bool read_list(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::list;
    ++at_;
    skip_spaces();
    if (take("]")) return true;
    for (;;) {
      if (!read(value.items.emplace_back(), depth + 1)) return false;
      skip_spaces();
      if (take("]")) return true;
      if (!take(",")) return refuse("a comma or ] is missing");
    }
  }

  bool read_object(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::object;
    ++at_;
    skip_spaces();
    if (take("}")) return true;
    for (;;) {
      skip_spaces();
      if (peek() != '"') return refuse("a key is missing");
      JsonValue::Member member;
      if (!read_text(member.name)) return false;
      // Objects of questions are small; a long one ends the search for doubles at 64 members.
      if (value.members.size() >= 64) return refuse("too many keys", ErrorCode::limit_exceeded);
      if (value.find(member.name) != nullptr) return refuse("a key comes twice");
      skip_spaces();
      if (!take(":")) return refuse("a colon is missing");
      if (!read(member.value, depth + 1)) return false;
      value.members.push_back(std::move(member));
      skip_spaces();
      if (take("}")) return true;
      if (!take(",")) return refuse("a comma or } is missing");
    }
  }

  bool read_text(std::string& text) {
    ++at_;
    while (at_ < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"') {
        ++at_;
        return true;
      }
      if (byte < 0x20) return refuse("a control character inside of a text");
      if (byte == '\\') {
        if (!read_escape(text)) return false;
        continue;
      }
      const utf8::Sequence sequence = utf8::sequence_at(text_, at_);
      if (!sequence.valid) return refuse("a text that is not UTF-8");
      text += text_.substr(at_, sequence.length);
      at_ += sequence.length;
    }
    return refuse("a text does not end");
  }

  bool read_escape(std::string& text) {
    ++at_;
    const char letter = peek();
    ++at_;
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (letter != 'u') {
      const size_t which = letter == '\0' ? std::string_view::npos : kLetters.find(letter);
      if (which == std::string_view::npos) return refuse("no escape of JSON");
      text += kMeanings[which];
      return true;
    }
    uint32_t unit = 0, low = 0;
    if (!read_unit(unit)) return false;
    if ((unit & 0xFC00) == 0xD800 && text_.substr(at_).starts_with("\\u")) {
      const size_t before = at_;
      at_ += 2;
      if (!read_unit(low)) return false;
      if ((low & 0xFC00) == 0xDC00) {
        utf8::append(text, 0x10000 + ((unit & 0x3FF) << 10) + (low & 0x3FF));
        return true;
      }
      at_ = before;
    }
    if ((unit & 0xF800) == 0xD800) {
      text += utf8::kReplacement;
    } else {
      utf8::append(text, unit);
    }
    return true;
  }

  bool read_unit(uint32_t& unit) {
    for (int i = 0; i < 4; ++i, ++at_) {
      const char digit = peek();
      const uint32_t value = digit >= '0' && digit <= '9'   ? static_cast<uint32_t>(digit - '0')
                             : digit >= 'a' && digit <= 'f' ? static_cast<uint32_t>(digit - 'a') + 10
                             : digit >= 'A' && digit <= 'F' ? static_cast<uint32_t>(digit - 'A') + 10
                                                            : 16;
      if (value == 16) return refuse("no escape of JSON");
      unit = unit * 16 + value;
    }
    return true;
  }

  // Digits are taken as long as they fit; `point` counts those behind the point, or left out before it.
  bool read_digits(uint64_t& digits, int64_t& exponent, bool behind_point) {
    const size_t first = at_;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      const bool fits = digits < 1'000'000'000'000'000'000;
      if (fits) digits = digits * 10 + static_cast<uint64_t>(peek() - '0');
      exponent += behind_point ? (fits ? -1 : 0) : (fits ? 0 : 1);
    }
    return at_ > first || refuse("no JSON value");
  }

  bool read_number(double& number) {
    uint64_t digits = 0;
    int64_t exponent = 0;
    const bool negative = take("-");
    const bool zero = peek() == '0';
    const size_t first = at_;
    if (!read_digits(digits, exponent, false)) return false;
    if (zero && at_ > first + 1) return refuse("a number begins with 0");
    if (take(".") && !read_digits(digits, exponent, true)) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      const bool small = peek() == '-';
      if (peek() == '-' || peek() == '+') ++at_;
      uint64_t power = 0;
      int64_t too_long = 0;
      if (!read_digits(power, too_long, false)) return false;
      // Beyond these every number is 0 or infinite, whatever its digits.
      const auto limited = static_cast<int64_t>(power < 2'000'000 && too_long == 0 ? power : 2'000'000);
      exponent += small ? -limited : limited;
    }
    number = scaled(digits, exponent);
    if (!std::isfinite(number)) return refuse("a number is too large");
    if (negative) number = -number;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t values_ = 0;
  Error error_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

Result<JsonValue> parse_json(std::string_view text) { return Parser(text).parse(); }

}  // namespace gpustrata
