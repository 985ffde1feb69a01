// A file that is either complete or not there.
//
// Bytes go to PATH.<pid>-<n>.tmp in the same folder; commit() makes them durable and renames. Whatever fails,
// what was at PATH before stays, and nothing half-written is left.
#pragma once

#include <string>

#include "engine/io/byte_sink.h"

namespace memstrata::capture {

class SnapshotFile final : public io::ByteSink {
 public:
  // Errors name the path and the system's reason.
  [[nodiscard]] static Result<SnapshotFile> create(const std::string& path);
  SnapshotFile(SnapshotFile&& other) noexcept;
  SnapshotFile& operator=(SnapshotFile&&) = delete;
  ~SnapshotFile() override;  // without commit(): nothing remains

  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;
  [[nodiscard]] Status commit();

 private:
  SnapshotFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  [[nodiscard]] tl::unexpected<Error> failure(const char* what) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace memstrata::capture
