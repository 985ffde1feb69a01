// A pickle on its way from chunks of bytes to the values that a Schema makes of it: input buffer, machine, and in
// words how it ended. What a reader of any pickle has besides its schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/io/encodings/pickle/machine.h"
#include "engine/model/recording.h"

namespace gpustrata::io::pickle {

class Input {
 public:
  static constexpr const char* kFormat = "pickle";  // as Reader::format() says it

  // Both must outlive it. Memory is charged to the budget of `recording`, except a buffer of 4 MiB, or two.
  // `what`: what the file should be, for messages.
  Input(model::Recording& recording, Schema& schema, std::string_view what);
  void use(Shortcut* shortcut) { machine_.use(shortcut); }
  void allow_only(std::span<const std::string_view> classes) { machine_.allow_only(classes); }

  // As in Reader.
  [[nodiscard]] std::span<std::byte> writable();
  [[nodiscard]] std::span<std::byte> writable_ahead();
  [[nodiscard]] Status commit(size_t bytes);
  [[nodiscard]] bool done() const { return machine_.halt() != Halt::none; }
  void expect_bytes(int64_t total);

  // No more input. Error: a pickle that cannot be read at all.
  [[nodiscard]] Status end();
  // What the pickle holds: of one that ended inside, everything read so far. Called once, after end().
  [[nodiscard]] values::Value result() { return machine_.result(); }
  [[nodiscard]] bool is_whole() const { return machine_.halt() == Halt::stop; }
  [[nodiscard]] int64_t received() const { return received_; }

  // What a person is told: a finding if something was lost, ...
  void tell_how_it_ended();
  // ... or why there is nothing, after the end. `holds`: "a dict with the keys a and b".
  [[nodiscard]] Status nothing_to_show(std::string_view holds) const;
  [[nodiscard]] Status too_little_memory() const;

 private:
  // [gap | chunk]: what the machine left unread lies right before the chunk.
  struct Buffer {
    struct Free {
      void operator()(std::byte* bytes) const;
    };
    std::unique_ptr<std::byte, Free> memory;
    std::byte* chunk = nullptr;

    [[nodiscard]] bool make();
  };
  void look_behind_stop(std::span<const std::byte> bytes, int64_t offset);
  [[nodiscard]] std::string size_that_would_work() const;

  model::Recording& recording_;
  std::string_view what_;
  Machine machine_;
  Buffer now_;
  Buffer ahead_;  // only if somebody reads ahead
  size_t unread_ = 0;
  int64_t received_ = 0;  // bytes committed
  int64_t expected_ = 0;
  int64_t trailing_ = 0;        // bytes behind STOP
  int64_t trailing_data_ = -1;  // offset of the first one that is not zero
};

}  // namespace gpustrata::io::pickle
