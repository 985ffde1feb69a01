#include "engine/base/base64.h"

#include <array>

namespace gpustrata {

namespace {

constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoLetter = 0xFF;

constexpr std::array<uint8_t, 256> kLetterValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoLetter);
  for (size_t i = 0; i < kBase64Letters.size(); ++i)
    values[static_cast<unsigned char>(kBase64Letters[i])] = static_cast<uint8_t>(i);
  return values;
}();

[[nodiscard]] size_t padding_of(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

std::string base64_of(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t left = bytes.size() - at;
    const uint32_t three = static_cast<uint32_t>(bytes[at]) << 16 |
                           (left > 1 ? static_cast<uint32_t>(bytes[at + 1]) << 8 : 0U) |
                           (left > 2 ? static_cast<uint32_t>(bytes[at + 2]) : 0U);
    text += kBase64Letters[three >> 18];
    text += kBase64Letters[three >> 12 & 63];
    text += left > 1 ? kBase64Letters[three >> 6 & 63] : '=';
    text += left > 2 ? kBase64Letters[three & 63] : '=';
  }
  return text;
}

size_t bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0) return SIZE_MAX;
  return text.size() / 4 * 3 - padding_of(text);
}

size_t read_base64(std::string_view text, std::span<uint8_t> to) {
  const size_t letters = text.size() - padding_of(text);
  uint32_t bits = 0;
  size_t filled = 0;
  for (size_t at = 0; at < letters; ++at) {
    const uint8_t value = kLetterValues[static_cast<unsigned char>(text[at])];
    if (value == kNoLetter) return at;
    bits = bits << 6 | value;
    const size_t place = at % 4;
    if (place > 0) to[filled++] = static_cast<uint8_t>(bits >> (6 - 2 * place));
  }
  return text.size();
}

}  // namespace gpustrata
