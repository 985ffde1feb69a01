// Where a command writes, and what it may use. A process has one of its own; tests of whole commands make
// others.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "engine/io/byte_sink.h"

namespace gpustrata::model {
struct Recording;
}

namespace gpustrata::cli {

struct Failure;

// Bytes to an open descriptor, which stays open. Error: io_error, with the system's reason.
class DescriptorSink final : public io::ByteSink {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;

 private:
  int descriptor_;
};

// A file that was read before the command began.
struct OpenedFile {
  std::string_view path;
  model::Recording& recording;
  const Failure* failure = nullptr;  // why it could not be read
};

struct Console {
  io::ByteSink& out;                        // standard output: the answer
  io::ByteSink& notes;                      // standard error: failures and progress, for a person
  size_t columns = kDefaultColumns;         // that a line of the answer may have
  bool is_watched = false;                  // `notes` is a terminal: progress is shown
  int64_t budget_bytes = int64_t{8} << 30;  // that the files of one command may take
  std::span<const OpenedFile> opened = {};  // a command that names one of these takes it as it is

  static constexpr size_t kDefaultColumns = 80;

  template <typename... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) const {
    (void)notes.write(io::bytes_of(fmt::format(text, std::forward<Args>(args)...)));
  }
};

// Of a terminal; kDefaultColumns if it does not say, or if `descriptor` is none.
[[nodiscard]] size_t columns_of(int descriptor);

// Three quarters of the memory that this process may have (memory_limit.h): the rest is for the system and for the file's
// pages.
[[nodiscard]] int64_t default_budget_bytes();

}  // namespace gpustrata::cli
