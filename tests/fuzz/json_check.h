// Is it JSON? Written apart from the engine's own reader and writer.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpustrata::tests {

class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : rest_(text) {}
  // Values, one a line.
  [[nodiscard]] bool lines() {
    while (!rest_.empty()) {
      if (!value(0) || !take('\n')) return false;
    }
    return true;
  }

 private:
  static constexpr int kDeepest = 1000;

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool digits() {
    const size_t end = rest_.find_first_not_of("0123456789");
    const size_t count = end == std::string_view::npos ? rest_.size() : end;
    rest_.remove_prefix(count);
    return count > 0;
  }
  bool number() {
    (void)take('-');
    if (!digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('-')) (void)take('+');
    return digits();
  }
  bool text() {
    if (!take('"')) return false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') continue;
      if (rest_.empty()) return false;
      const char escaped = rest_.front();
      rest_.remove_prefix(1);
      if (escaped == 'u') {
        const size_t end = rest_.find_first_not_of("0123456789abcdefABCDEF");
        if (rest_.size() < 4 || end < 4) return false;
        rest_.remove_prefix(4);
      } else if (std::string_view("\"\\/bfnrt").find(escaped) == std::string_view::npos) {
        return false;
      }
    }
    return false;
  }
  bool members(char end, bool with_keys, int depth) {
    if (take(end)) return true;
    do {
      if (with_keys && (!text() || !take(':'))) return false;
      if (!value(depth + 1)) return false;
    } while (take(','));
    return take(end);
  }
  bool value(int depth) {
    if (depth > kDeepest || rest_.empty()) return false;
    switch (rest_.front()) {
      case '{':
        return take('{') && members('}', true, depth);
      case '[':
        return take('[') && members(']', false, depth);
      case '"':
        return text();
      default:
        return word("true") || word("false") || word("null") || number();
    }
  }

  std::string_view rest_;
};

[[nodiscard]] inline bool are_json_lines(std::string_view text) { return JsonCheck(text).lines(); }

}  // namespace gpustrata::tests
