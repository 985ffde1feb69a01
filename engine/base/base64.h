// Base64 (RFC 4648 section 4), in one piece: bytes in JSON texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpustrata {

// With padding, without lines.
[[nodiscard]] std::string base64_of(std::span<const uint8_t> bytes);

// Bytes that a text of this length with its padding stands for; SIZE_MAX if no base64 has that length or padding.
[[nodiscard]] size_t bytes_of_base64(std::string_view text);

// Fills `to`, which has bytes_of_base64(text) bytes. The place of the first letter that is none, or text.size().
[[nodiscard]] size_t read_base64(std::string_view text, std::span<uint8_t> to);

}  // namespace gpustrata
