// The keys of JSON text, one after the other, without reading it: for telling what a file is from its
// beginning.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpustrata::io::json {

struct FoundKey {
  std::string_view key;  // as written: escapes are not resolved; empty = no more
  size_t depth = 0;      // brackets around it
  size_t offset = 0;     // of its first letter
};

// Damaged text gives odd keys, never an error.
class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text_(text) {}

  [[nodiscard]] FoundKey next() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '{' || c == '[') {
        ++depth_;
      } else if ((c == '}' || c == ']') && depth_ > 0) {
        --depth_;
      } else if (c == '"') {
        const size_t start = at_;
        while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size()) return {};
        const std::string_view string = text_.substr(start, at_++ - start);
        const size_t behind = text_.find_first_not_of(" \t\r\n", at_);
        if (behind != std::string_view::npos && text_[behind] == ':') return {string, depth_, start};
      }
    }
    return {};
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
};

}  // namespace gpustrata::io::json
