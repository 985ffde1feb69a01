// The bytes of a file, unpacked if it is gzip or zstd (several streams behind each other are one): for text that is no
// snapshot, whose readers are in engine/io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/budget.h"
#include "engine/base/status.h"
#include "engine/cli/input/descriptor.h"
#include "engine/io/containers/decoder.h"

namespace gpustrata::cli {

class UnpackedFile {
 public:
  UnpackedFile(const std::string& path, Budget& budget) : file_(path), budget_(budget) {}

  // The next bytes, some hundred KB at most, valid until the next call; none = the end. Error, after which there is no more:
  // io_error; invalid_format, the packed data are damaged or end early; limit_exceeded, they unpack to more than io/limits.h
  // allows.
  [[nodiscard]] Result<std::span<const std::byte>> read();

 private:
  [[nodiscard]] Status fill();
  [[nodiscard]] Status begin();

  Descriptor file_;
  Budget& budget_;
  std::unique_ptr<io::Decoder> decoder_;  // of packed data
  std::vector<std::byte> in_, out_;
  std::span<const std::byte> left_;  // of in_
  bool has_begun_ = false, at_end_ = false;
  bool is_inside_ = false;  // of a packed stream
  int64_t packed_ = 0, unpacked_ = 0;
};

}  // namespace gpustrata::cli
