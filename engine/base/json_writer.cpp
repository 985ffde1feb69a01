#include "engine/base/json_writer.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/base/utf8.h"

namespace memstrata {

void JsonWriter::comma() {
  // A finished value never ends with one of these.
  if (!text_.empty() && text_.back() != '{' && text_.back() != '[' && text_.back() != ':') text_ += ',';
}

void JsonWriter::open(char bracket) {
  comma();
  text_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  comma();
  quote(name);
  text_ += ':';
}

void JsonWriter::value(std::string_view text) {
  comma();
  quote(text);
}

void JsonWriter::raw(std::string_view json) {
  comma();
  text_ += json;
}

void JsonWriter::signed_value(int64_t number) {
  comma();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonWriter::unsigned_value(uint64_t number) {
  comma();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  comma();
  const size_t start = text_.size();
  fmt::format_to(std::back_inserter(text_), "{}", number);  // shortest round trip, no locale
  if (text_.find_first_of(".e", start) == std::string::npos) text_ += ".0";
}

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  size_t plain = 0;  // start of what is not copied yet
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\') {
      ++at;
      continue;
    }
    const utf8::Sequence sequence = utf8::sequence_at(text, at);
    if (byte < 0x80 || !sequence.valid || utf8::is_control(text, at, sequence)) {
      text_ += text.substr(plain, at - plain);
      plain = at + sequence.length;
      switch (byte) {
        case '"':
          text_ += "\\\"";
          break;
        case '\\':
          text_ += "\\\\";
          break;
        case '\n':
          text_ += "\\n";
          break;
        case '\r':
          text_ += "\\r";
          break;
        case '\t':
          text_ += "\\t";
          break;
        default:
          if (sequence.valid) {
            // The last byte of U+0080 to U+009F is its number.
            const auto code_point = static_cast<unsigned char>(text[at + sequence.length - 1]);
            fmt::format_to(std::back_inserter(text_), "\\u{:04x}", unsigned{code_point});
          } else {
            text_ += utf8::kReplacement;
          }
      }
    }
    at += sequence.length;
  }
  text_ += text.substr(plain);
  text_ += '"';
}

}  // namespace memstrata
