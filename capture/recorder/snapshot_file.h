// A snapshot's file: complete or not there, where that can be had.
//
// The place of a regular file, or of none yet: bytes go to NAME.<pid>-<n>.tmp in the same folder; commit()
// makes them durable and renames. Whatever fails, what was there before stays, and nothing half-written is
// left. Symbolic links are followed first: the file they lead to is replaced, in its own folder, and the
// links stay. What is neither a file nor a folder (a pipe, a device) is never replaced: it is written in
// place.
#pragma once

#include <string>

#include "engine/io/byte_sink.h"

namespace gpustrata::capture {

class SnapshotFile final : public io::ByteSink {
 public:
  // Errors name the path and the system's reason. A pipe that nobody reads is one; it is not waited for.
  [[nodiscard]] static Result<SnapshotFile> create(const std::string& path);
  SnapshotFile(SnapshotFile&& other) noexcept;
  SnapshotFile& operator=(SnapshotFile&&) = delete;
  ~SnapshotFile() override;  // without commit(): nothing remains

  // A reader of a pipe that goes away is an Error, never a SIGPIPE.
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;
  [[nodiscard]] Status commit();

 private:
  explicit SnapshotFile(const std::string& path) : path_(path) {}
  [[nodiscard]] bool open_in_place();
  [[nodiscard]] bool open_beside();
  [[nodiscard]] tl::unexpected<Error> failure(const char* what) const;

  std::string path_;       // as it was asked for
  std::string target_;     // of the renaming
  std::string temporary_;  // empty: written in place
  int descriptor_ = -1;
};

}  // namespace gpustrata::capture
