#include "engine/cli/printable.h"

#include "engine/base/utf8.h"

namespace memstrata::cli {

std::string printable(std::string_view text) {
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const utf8::Sequence sequence = utf8::sequence_at(text, at);
    const auto first = static_cast<unsigned char>(text[at]);
    const bool c1 = first == 0xC2 && sequence.valid && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    const bool shown = sequence.valid && first >= 0x20 && first != 0x7F && !c1;
    clean += shown ? text.substr(at, sequence.length) : utf8::kReplacement;
    at += sequence.length;
  }
  return clean;
}

std::string shortened(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return printable(text);
  size_t end = 0;
  while (end < bytes) end += utf8::sequence_at(text, end).length;
  return printable(text.substr(0, end)) + "...";
}

}  // namespace memstrata::cli
