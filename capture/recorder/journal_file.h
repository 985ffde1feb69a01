// The file of a journal: its header and ring mapped and shared, its regions written.
//
// What is stored into the mapping is the kernel's at once: a process that is killed loses nothing of it. The ring's place on the
// disk is taken when the file is made, so that a full disk is an error here and never a SIGBUS later. A file of the same name is
// replaced, not written over: whoever still writes it goes on in peace.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/io/journal/format.h"

namespace gpustrata::capture {

class JournalFile {
 public:
  // Errors name the path and the system's reason. `ring_bytes` is a power of 2, `region_bytes` a multiple of 8.
  [[nodiscard]] static Result<JournalFile> create(const std::string& path, uint64_t ring_bytes,
                                                  uint64_t region_bytes);
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] uint64_t ring_bytes() const { return ring_bytes_; }
  [[nodiscard]] uint64_t region_bytes() const { return region_bytes_; }

  // A number in the header.
  [[nodiscard]] std::atomic_ref<uint64_t> number(uint64_t offset) const {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(mapped_ + offset));
  }
  void set_reason(std::string_view reason);

  // Bytes of the ring from `position` on, which may go on at its beginning.
  void put(uint64_t position, std::span<const std::byte> bytes) {
    const uint64_t place = position & (ring_bytes_ - 1);
    if (bytes.size() > ring_bytes_ - place) return put_in_parts(place, bytes);
    if (!bytes.empty()) std::memcpy(mapped_ + io::journal::kHeaderBytes + place, bytes.data(), bytes.size());
  }
  void get(uint64_t position, std::span<std::byte> bytes) const;

  // Into region 0 or 1, `offset` bytes behind its beginning. Error: io_error with the system's reason.
  [[nodiscard]] Status write(int region, uint64_t offset, std::span<const std::byte> bytes) const;
  // Its name leads to it no more.
  [[nodiscard]] bool is_gone() const;

 private:
  JournalFile(std::string path, uint64_t ring_bytes, uint64_t region_bytes)
      : path_(std::move(path)), ring_bytes_(ring_bytes), region_bytes_(region_bytes) {}
  void put_in_parts(uint64_t place, std::span<const std::byte> bytes);
  [[nodiscard]] Status open_as(const std::string& temporary);

  std::string path_;
  uint64_t ring_bytes_, region_bytes_;
  int descriptor_ = -1;
  std::byte* mapped_ = nullptr;
};

}  // namespace gpustrata::capture
