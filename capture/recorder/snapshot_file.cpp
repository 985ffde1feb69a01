#include "capture/recorder/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace memstrata::capture {

Result<SnapshotFile> SnapshotFile::create(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::wrong_usage, -1, "the snapshot needs a path");
  static std::atomic<int> next{0};  // two threads may write to one path
  const std::string temporary = fmt::format("{}.{}-{}.tmp", path, getpid(), next.fetch_add(1));
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  SnapshotFile file(path, temporary, descriptor);
  if (descriptor < 0) return file.failure("create");
  return file;
}

SnapshotFile::SnapshotFile(SnapshotFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

SnapshotFile::~SnapshotFile() {
  if (descriptor_ < 0) return;
  (void)::close(descriptor_);
  (void)::unlink(temporary_.c_str());
}

tl::unexpected<Error> SnapshotFile::failure(const char* what) const {
  const int reason = errno;
  return fail(ErrorCode::io_error, -1,
              "cannot {} the snapshot {}: {}. The recording is kept; try another path.", what, path_,
              std::generic_category().message(reason));
}

Status SnapshotFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status SnapshotFile::commit() {
  // Some file systems (9p, some pipes) cannot; their data is where it will be.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) return failure("write");
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const auto error = failure("write");
    (void)::unlink(temporary_.c_str());
    return error;
  }
  return {};
}

}  // namespace memstrata::capture
