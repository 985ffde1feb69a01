// Base64 (RFC 4648 section 4), in one piece: bytes in JSON texts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gpustrata {

// With padding, without lines.
[[nodiscard]] std::string base64_of(std::span<const uint8_t> bytes);

}  // namespace gpustrata
