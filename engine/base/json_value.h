// A small JSON text from outside as a tree of values: questions, settings. Not for files: those are read in
// pieces (engine/io/json).
//
// Strict RFC 8259 in UTF-8 (json_lexer.h): no comments, no text behind the value, no key twice. Numbers are the nearest
// doubles; what none holds is refused. Half of a surrogate pair becomes U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace gpustrata {

inline constexpr size_t kMostJsonValues = size_t{1} << 16;
inline constexpr int kDeepestJson = 16;  // containers in each other

struct JsonValue {
  enum class Kind : uint8_t { null, flag, number, text, list, object };
  struct Member;

  Kind kind = Kind::null;
  bool flag = false;
  double number = 0;
  std::string text;
  std::vector<JsonValue> items;  // of a list
  std::vector<Member> members;   // of an object, as they come

  // Null if this is no object or has no such member.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
};

struct JsonValue::Member {
  std::string name;
  JsonValue value;
};

// Error: invalid_format with the byte at fault as offset; limit_exceeded beyond kMostJsonValues or
// kDeepestJson.
[[nodiscard]] Result<JsonValue> parse_json(std::string_view text);

}  // namespace gpustrata
