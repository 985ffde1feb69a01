// Where writers put their bytes: a file, a pipe, memory.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/base/column.h"
#include "engine/base/status.h"

namespace gpustrata::io {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Takes all bytes or fails; after an Error nothing more is written. Writers call it with pieces of about
  // kSinkPiece bytes, so that it may be slow.
  [[nodiscard]] virtual Status write(std::span<const std::byte> bytes) = 0;
};

inline constexpr size_t kSinkPiece = size_t{64} << 10;

// libc++ of em++ 3.1.6 makes no span of a string_view.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Keeps everything, charged to the budget.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(Budget& budget) : bytes_(budget) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override {
    if (bytes_.append(bytes)) return {};
    return fail(ErrorCode::limit_exceeded, -1, "no memory for {} more bytes of output", bytes.size());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_.span(); }
  void clear() { bytes_.clear(); }  // keeps the memory

 private:
  Column<std::byte> bytes_;
};

}  // namespace gpustrata::io
