// A file as text that a page can hold: packed with gzip, in base64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/io/byte_sink.h"

namespace gpustrata::cli {

// Bytes in base64 (RFC 4648 section 4) to another sink, in pieces of any size.
class Base64Sink final : public io::ByteSink {
 public:
  explicit Base64Sink(io::ByteSink& out) : out_(out) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;
  // What is left, with its padding.
  [[nodiscard]] Status finish();
  // Bytes before base64.
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  io::ByteSink& out_;
  std::array<uint8_t, 3> group_{};  // that is not whole yet
  size_t count_ = 0;                // bytes in it
  int64_t bytes_ = 0;
};

// A file in pieces of any size to another sink: packed with gzip, or as it is if it is packed already (gzip,
// zstd, zip).
class PackedSink final : public io::ByteSink {
 public:
  explicit PackedSink(io::ByteSink& out);
  ~PackedSink() override;
  // Error: the sink's, or out_of_memory.
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;
  [[nodiscard]] Status finish();

 private:
  class Deflater;
  [[nodiscard]] Status decide();

  io::ByteSink& out_;
  std::vector<std::byte> head_;  // until there are enough to decide
  bool is_decided_ = false;
  std::unique_ptr<Deflater> deflater_;  // none: packed already
};

}  // namespace gpustrata::cli
