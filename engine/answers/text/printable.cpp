#include "engine/answers/text/printable.h"

#include <algorithm>

#include "engine/base/shown.h"
#include "engine/base/utf8.h"

namespace gpustrata::answers {

namespace {

void append_printable(std::string& clean, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first >= 0x20 && first < 0x7F) {
      clean += text[at++];
      continue;
    }
    const utf8::Sequence sequence = utf8::sequence_at(text, at);
    const std::string_view bytes = text.substr(at, sequence.length);
    clean += sequence.valid && utf8::is_shown(bytes) ? bytes : utf8::kReplacement;
    at += sequence.length;
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  append_printable(clean, text);
  return clean;
}

std::string printable_lines(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    append_printable(clean, text.substr(0, end));
    clean += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return clean;
}

std::string shortened(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return printable(text);
  size_t end = 0;
  while (end < bytes) end += utf8::sequence_at(text, end).length;
  return printable(text.substr(0, end)) + "...";
}

}  // namespace gpustrata::answers
