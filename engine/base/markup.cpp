#include "engine/base/markup.h"

#include <fmt/core.h>

#include "engine/base/shown.h"
#include "engine/base/utf8.h"

namespace gpustrata {

namespace {

[[nodiscard]] std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

}  // namespace

std::string escaped_markup(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const utf8::Sequence sequence = utf8::sequence_at(text, at);
    const std::string_view character = text.substr(at, sequence.length);
    if (!sequence.valid || character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF") {
      out += utf8::kReplacement;
    } else if (utf8::is_control(text, at, sequence)) {
      out += ' ';
    } else if (const std::string_view entity = entity_of(character.front()); !entity.empty()) {
      out += entity;
    } else if (!utf8::is_shown(character)) {
      out += fmt::format("&#x{:x};", utf8::code_point(character));
    } else {
      out += character;
    }
    at += sequence.length;
  }
  return out;
}

}  // namespace gpustrata
