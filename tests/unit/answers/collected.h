// An answer as one text, for tests.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

struct CollectedText final : io::ByteSink {
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    longest_piece = std::max(longest_piece, bytes.size());
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

  std::string text;
  size_t longest_piece = 0;
};

// What `write(TextOut&)` writes.
template <typename Write>
[[nodiscard]] std::string collected(Write&& write) {
  CollectedText sink;
  TextOut out(sink);
  write(out);
  (void)out.finish();
  return std::move(sink.text);
}

// What to_text() of these writes.
template <typename... What>
[[nodiscard]] std::string text_of_answer(const What&... what) {
  return collected([&](TextOut& out) { to_text(out, what...); });
}

}  // namespace gpustrata::answers
