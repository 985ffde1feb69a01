#include "engine/base/json_lexer.h"

#include <algorithm>
#include <cstdlib>

#include "engine/base/json_number.h"
#include "engine/base/utf8.h"

namespace gpustrata {

bool JsonLexer::refuse(const char* why) {
  why_ = why;
  return false;
}

char JsonLexer::next() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonLexer::take(std::string_view word) {
  (void)next();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool JsonLexer::is_at_end() {
  (void)next();
  return at_ == text_.size();
}

bool JsonLexer::text(std::string& to) {
  if (next() != '"') return refuse("a text is missing");
  ++at_;
  for (;;) {
    const size_t stop = std::min(text_.find_first_of("\"\\", at_), text_.size());
    const std::string_view plain = text_.substr(at_, stop - at_);
    if (texts_ == JsonTexts::checked && !check_until(stop)) return false;
    to += plain;
    at_ = stop;
    if (stop == text_.size()) return refuse("a text does not end");
    ++at_;
    if (text_[stop] == '"') return true;
    if (!escape(to)) return false;
  }
}

bool JsonLexer::check_until(size_t end) {
  while (at_ < end) {
    if (static_cast<unsigned char>(text_[at_]) < 0x20) return refuse("a control character inside of a text");
    const utf8::Sequence sequence = utf8::sequence_at(text_, at_);
    if (!sequence.valid) return refuse("a text that is not UTF-8");
    at_ += sequence.length;
  }
  return true;
}

// What follows a backslash.
bool JsonLexer::escape(std::string& to) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ == text_.size()) return refuse("a text does not end");
  const char letter = text_[at_++];
  if (const size_t which = kLetters.find(letter); which != std::string_view::npos) {
    to += kMeanings[which];
    return true;
  }
  uint32_t code = 0;
  if (letter != 'u') return refuse("no escape of JSON");
  if (!unit(code)) return false;
  if ((code & 0xFC00) == 0xD800 && text_.substr(at_).starts_with("\\u")) {
    const size_t before = at_;
    at_ += 2;
    uint32_t low = 0;
    if (!unit(low)) return false;
    if ((low & 0xFC00) == 0xDC00) {
      utf8::append(to, 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF));
      return true;
    }
    at_ = before;  // half of a pair, and something else
  }
  if ((code & 0xF800) == 0xD800 && texts_ == JsonTexts::checked) {
    to += utf8::kReplacement;
  } else {
    utf8::append(to, code);
  }
  return true;
}

bool JsonLexer::unit(uint32_t& value) {
  for (int i = 0; i < 4; ++i, ++at_) {
    const char digit = at_ < text_.size() ? text_[at_] : '\0';
    const uint32_t nibble = digit >= '0' && digit <= '9'   ? static_cast<uint32_t>(digit - '0')
                            : digit >= 'a' && digit <= 'f' ? static_cast<uint32_t>(digit - 'a') + 10
                            : digit >= 'A' && digit <= 'F' ? static_cast<uint32_t>(digit - 'A') + 10
                                                           : 16;
    if (nibble == 16) return refuse("no escape of JSON");
    value = value << 4 | nibble;
  }
  return true;
}

std::string_view JsonLexer::number(bool& whole) {
  (void)next();
  const JsonNumber form = json_number(text_.substr(at_));
  if (form.length == 0) (void)refuse("no JSON value");
  whole = form.whole;
  at_ += form.length;
  return text_.substr(at_ - form.length, form.length);
}

double json_double(std::string_view number) {
  // No locale but "C" is ever set; libc++ of em++ 3.1.6 lacks from_chars for doubles.
  return std::strtod(std::string(number).c_str(), nullptr);
}

}  // namespace gpustrata
