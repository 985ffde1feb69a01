// Where the values of a pickle or a JSON text lie: for what changes inputs without knowing what they mean.
//
// It reads what is damaged, too, up to where it cannot go on. Apart from the readers: a fault of theirs is none here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpustrata::tests {

enum class Encoding : uint8_t { none, json, pickle };
enum class ValueKind : uint8_t { none, flag, integer, real, text, list, tuple, dict, other };

struct Span {
  size_t begin = 0, end = 0;
};

struct FoundValue {
  Span bytes;
  ValueKind kind = ValueKind::other;
  std::string key;  // of a member of a dict; empty: of a list, or the outermost value
  Span key_bytes;   // empty: it has no key
  [[nodiscard]] bool has_key() const { return key_bytes.end > key_bytes.begin; }
};

// A pickle's memo: what is put there, and what is taken from there.
struct MemoUse {
  Span bytes;
  bool puts = false;
  bool is_text = false;  // it takes a text, which is:
  std::string text;
};

struct FoundValues {
  Encoding encoding = Encoding::none;
  Span document;  // behind what a fuzz target takes for itself
  std::vector<FoundValue> values;
  std::vector<MemoUse> memo;  // in order
};

// Of the encoding and, for pickles, the first byte (0 or 1) with the most values. O(bytes).
[[nodiscard]] FoundValues find_values(std::string_view input);

}  // namespace gpustrata::tests
