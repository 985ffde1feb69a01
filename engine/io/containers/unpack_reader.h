// gzip and zstd: one packed file. Streams that follow each other (`cat a.gz b.gz`, `pigz`, `zstd -B`) are one
// file, as their own tools have it. A cut or damaged stream shows what was unpacked before.
#pragma once

#include <string>

#include "engine/io/containers/input_buffer.h"
#include "engine/io/containers/unpacking.h"
#include "engine/io/reader.h"

namespace gpustrata::io {

class UnpackReader final : public Reader {
 public:
  // `place`: where the packed bytes lie, empty = they are the file; `depth`: containers around them.
  UnpackReader(OpenedFile& file, Packing packing, const std::string& place, int depth);

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string format() const override;

 private:
  [[nodiscard]] bool begins_stream(std::byte first) const;

  OpenedFile& file_;
  InputBuffer buffer_;
  Unpacking unpacking_;
  int64_t received_ = 0;
  int64_t behind_ = 0;         // bytes behind the last stream
  int64_t first_behind_ = -1;  // the first of them that is not zero
  bool done_ = false;
};

}  // namespace gpustrata::io
