// zip archives (APPNOTE 6.3): any number of snapshots in one file, stored, deflated or packed with zstd.
//
// Read front to back by the headers before the members, because the bytes come as a stream (standard input, a
// browser's file): the directory at the end is not needed. So members are found that a damaged or missing
// directory would hide, and overlapping members, the trick of the worst bombs, cannot be. What the directory
// alone knows does not count: members deleted from it are shown.
// Sizes may stand in the header, in a zip64 field, or behind the data; those behind are found by the end of
// the compressed stream, or for stored data by a descriptor whose checksum and sizes fit. Behind a member
// whose end is lost the next header is looked for, so that one broken member does not hide the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/containers/input_buffer.h"
#include "engine/io/containers/members.h"
#include "engine/io/reader.h"

namespace gpustrata::io {

class ZipReader final : public Reader {
 public:
  ZipReader(OpenedFile& file, std::string place, int depth);

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override { return at_ == At::end; }
  [[nodiscard]] std::string format() const override { return members_.format("zip"); }

 private:
  using Bytes = std::span<const std::byte>;
  enum class At : uint8_t {
    signature,    // of the next header
    header,       // with name and extra fields
    data,         // of a member, unpacked as it comes
    stored_data,  // stored without a size: up to a descriptor that fits
    skip,         // data nobody wants, `left_` bytes
    descriptor,   // sizes behind the data
    search,       // the next header after a loss
    end,          // the directory begins
  };
  struct Header {
    int64_t offset = 0;  // of the member in the archive
    uint16_t flags = 0;
    uint16_t method = 0;
    uint32_t crc = 0;
    uint64_t packed = 0;    // bytes, if known
    uint64_t unpacked = 0;  // bytes, if known
    // Sizes and checksum follow the data.
    [[nodiscard]] bool has_descriptor() const { return (flags & 8U) != 0; }
  };

  // Each takes what it can from the front of `unread()`; false: it needs more.
  [[nodiscard]] bool read();
  [[nodiscard]] bool read_signature();
  [[nodiscard]] bool read_header();
  [[nodiscard]] bool read_data();
  [[nodiscard]] bool read_stored_data();
  [[nodiscard]] bool skip();
  [[nodiscard]] bool read_descriptor();
  [[nodiscard]] bool search();
  void read_extra(Bytes extra);
  void begin_member(std::string_view name);
  void end_member(bool fits);
  void stop_member();
  void pass_over();

  [[nodiscard]] Bytes unread() const { return Bytes(bytes_).subspan(next_); }
  [[nodiscard]] int64_t offset() const { return bytes_begin_ + static_cast<int64_t>(next_); }

  OpenedFile& file_;
  InputBuffer buffer_;
  Members members_;
  At at_ = At::signature;
  Header header_;
  uint64_t left_ = 0;  // of the member's packed bytes, if known
  // The last chunk, behind what the ones before left unread: at most a header with its names.
  std::vector<std::byte> bytes_;
  size_t next_ = 0;
  int64_t bytes_begin_ = 0;  // place of bytes_[0] in the archive
};

}  // namespace gpustrata::io
