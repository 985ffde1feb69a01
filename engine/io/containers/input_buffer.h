// Where a container's bytes come in: one aligned piece of memory, made when it is first needed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "engine/io/limits.h"

namespace gpustrata::io {

class InputBuffer {
 public:
  // Empty if there is no memory.
  [[nodiscard]] std::span<std::byte> writable() {
    if (!bytes_) bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, kPackedChunkBytes)));
    return bytes_ ? std::span<std::byte>{bytes_.get(), kPackedChunkBytes} : std::span<std::byte>{};
  }
  [[nodiscard]] std::span<const std::byte> first(size_t bytes) const { return {bytes_.get(), bytes}; }

 private:
  static constexpr size_t kAlignment = 64;
  static_assert(kPackedChunkBytes % kAlignment == 0);
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace gpustrata::io
