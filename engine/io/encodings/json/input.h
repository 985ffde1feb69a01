// JSON text on its way from chunks of bytes to the values that a Schema makes of it: input buffer, walker, and in
// words how it ended. What a reader of any JSON has besides its schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/io/encodings/json/piece_reader.h"
#include "engine/io/encodings/json/walker.h"
#include "engine/io/values/builder.h"
#include "engine/model/recording.h"

namespace gpustrata::io::json {

class Input {
 public:
  static constexpr const char* kFormat = "json";  // as Reader::format() says it

  // Both must outlive it. Memory is charged to the budget of `recording`, except a buffer of 400 KB.
  // `what`: what the file should be, for messages.
  Input(model::Recording& recording, values::Schema& schema, std::string_view what);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // As in Reader.
  [[nodiscard]] std::span<std::byte> writable();
  [[nodiscard]] Status commit(size_t bytes);
  [[nodiscard]] bool done() const;
  void expect_bytes(int64_t total) { expected_ = total; }

  // No more input: everything that is open is closed.
  [[nodiscard]] Status end();
  // What the text holds: of one that ended inside, everything read so far. After end().
  [[nodiscard]] const values::Value& result() const { return builder_.result(); }
  [[nodiscard]] bool is_whole() const { return walker_.halt() == Walker::Halt::complete; }
  [[nodiscard]] int64_t received() const { return received_; }

  // What a person is told: a finding if something was lost, ...
  void tell_how_it_ended();
  // ... or why there is nothing. `holds`: "a dict with the keys a and b".
  [[nodiscard]] Status nothing_to_show(std::string_view holds) const;
  [[nodiscard]] Status too_little_memory() const;

 private:
  struct Free {
    void operator()(char* bytes) const;
  };
  void look_behind(std::string_view text, int64_t offset);
  void walk(std::span<char> text, bool last);
  [[nodiscard]] std::string size_that_would_work() const;

  model::Recording& recording_;
  std::string_view what_;
  values::Builder builder_;
  PieceReader pieces_;
  Walker walker_;
  int64_t reserve_ = 0;  // of the budget, for closing what is open when it runs out

  // [what is unread of the last chunk | chunk | padding]
  std::unique_ptr<char, Free> memory_;
  char* chunk_ = nullptr;
  size_t unread_ = 0;
  int64_t received_ = 0;
  int64_t expected_ = 0;
  int64_t trailing_ = -1;  // offset of the first byte behind the text that is no white space
};

}  // namespace gpustrata::io::json
