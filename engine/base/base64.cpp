#include "engine/base/base64.h"

#include <string_view>

namespace gpustrata {

namespace {

constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

}  // namespace gpustrata
