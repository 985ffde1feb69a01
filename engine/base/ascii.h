// Letters and space of ASCII, whatever the locale: words of formats and of filters are told apart so.
#pragma once

#include <string>
#include <string_view>

namespace gpustrata::ascii {

[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
// What separates words in JSON, too.
[[nodiscard]] constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = lower(c);
  return lowered;
}

}  // namespace gpustrata::ascii
