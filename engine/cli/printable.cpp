#include "engine/cli/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/utf8.h"

namespace memstrata::cli {

namespace {

struct Range {
  uint32_t first, last;
};
constexpr std::array kNotShown = std::to_array<Range>({
    {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},      // controls, soft hyphen
    {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160},  // joiner, direction, fillers
    {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},  // vowels without width, Mongolian, directions
    {0x2028, 0x202E}, {0x2060, 0x206F},   {0x3164, 0x3164},  // lines, directions, invisible operators
    {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},  // variants, byte order mark
    {0xFFF9, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
});

[[nodiscard]] bool is_shown(std::string_view sequence) {
  const uint32_t value = utf8::code_point(sequence);
  return std::none_of(kNotShown.begin(), kNotShown.end(),
                      [&](Range range) { return value >= range.first && value <= range.last; });
}

void append_printable(std::string& clean, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first >= 0x20 && first < 0x7F) {
      clean += text[at++];
      continue;
    }
    const utf8::Sequence sequence = utf8::sequence_at(text, at);
    const std::string_view bytes = text.substr(at, sequence.length);
    clean += sequence.valid && is_shown(bytes) ? bytes : utf8::kReplacement;
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

}  // namespace memstrata::cli
