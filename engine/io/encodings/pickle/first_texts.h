// Texts of a pickle, without running it: for telling what a file is from its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpustrata::io::pickle {

// Does a text that is exactly `word` begin at bytes[at]? Whatever the protocol: the length right before it,
// or quotes or a line of its own (protocol 0).
[[nodiscard]] inline bool is_text_at(std::string_view bytes, size_t at, std::string_view word) {
  if (bytes.substr(at, word.size()) != word || at == 0) return false;
  const size_t end = at + word.size();
  const char next = end < bytes.size() ? bytes[end] : '\0';
  const auto byte = [&](size_t before) { return static_cast<uint8_t>(bytes[at - before]); };
  if (byte(1) == word.size() && at >= 2 && (byte(2) == 0x8c || byte(2) == 'U')) return true;
  if (at >= 5 && (byte(5) == 'X' || byte(5) == 'T') && byte(4) == word.size() && byte(3) == 0 &&
      byte(2) == 0 && byte(1) == 0) {
    return true;
  }
  if (byte(1) == 'V') return next == '\n';
  return at >= 2 && byte(2) == 'S' && (byte(1) == '\'' || byte(1) == '"') &&
         next == static_cast<char>(byte(1));
}

}  // namespace gpustrata::io::pickle
