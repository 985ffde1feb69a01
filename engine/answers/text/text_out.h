// Where answers are written: text on its way out, in pieces, so that nothing long is held.
#pragma once

#include <fmt/core.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/json_writer.h"
#include "engine/io/byte_sink.h"

namespace gpustrata::answers {

// What fails is remembered and said by finish(); nothing is written after it.
class TextOut {
 public:
  explicit TextOut(io::ByteSink& sink) : sink_(sink) {}
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;

  void add(std::string_view text);
  template <typename... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(held_), text, std::forward<Args>(args)...);
    if (held_.size() >= io::kSinkPiece) flush();
  }
  // A writer whose text goes here as it grows. end_line() when it is complete.
  [[nodiscard]] JsonWriter json();
  void end_line(JsonWriter& json);

  [[nodiscard]] bool failed() const { return !status_; }
  // What is left. The first failure of all, if there was one.
  [[nodiscard]] Status finish();

 private:
  void flush();
  void write(std::string_view text);

  io::ByteSink& sink_;
  std::string held_;
  Status status_;
};

}  // namespace gpustrata::answers
