#include "engine/base/json_writer.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/base/shown.h"
#include "engine/base/utf8.h"

namespace gpustrata {

void JsonWriter::pass_on(size_t bytes) {
  refused_ = refused_ || !take_(std::string_view(text_).substr(0, bytes));
  taken_ += bytes;
  text_.erase(0, bytes);
}

bool JsonWriter::finish() {
  if (take_ && !text_.empty()) pass_on(text_.size());
  return !refused_;
}

void JsonWriter::comma() {
  // The last byte stays: the next comma depends on it.
  if (text_.size() > kPieceBytes && take_) pass_on(text_.size() - 1);
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

static void append_escaped(std::string& out, uint32_t code_point) {
  if (code_point >= 0x10000) {  // as a pair of surrogates
    const uint32_t above = code_point - 0x10000;
    append_escaped(out, 0xD800 + (above >> 10));
    append_escaped(out, 0xDC00 + (above & 0x3FF));
    return;
  }
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point);
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
    if (byte < 0x80 || !sequence.valid || !utf8::is_shown(text.substr(at, sequence.length))) {
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
            append_escaped(text_, utf8::code_point(text.substr(at, sequence.length)));
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

}  // namespace gpustrata
