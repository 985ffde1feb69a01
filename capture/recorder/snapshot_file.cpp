#include "capture/recorder/snapshot_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

namespace gpustrata::capture {

namespace {

constexpr int kMostLinks = 40;  // as the system allows

// Where the links at the end of `path` lead, be it there or not. Links among its folders are the system's
// matter. Empty, with errno set, if they are too many.
[[nodiscard]] std::string without_links(std::string path) {
  std::array<char, PATH_MAX> text{};
  for (int links = 0; links < kMostLinks; ++links) {
    const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
    if (length < 0) return path;  // no link
    const std::string target(text.data(), static_cast<size_t>(length));
    const size_t folder = path.find_last_of('/') + 1;  // 0 = this one
    path.resize(target.starts_with('/') ? 0 : folder);
    path += target;
  }
  errno = ELOOP;
  return {};
}

// While it lives, writing to a pipe without a reader fails in this thread and does not end the program.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigset_t pending;
    (void)sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) != 0) return;  // somebody else's: not to be taken away below
    (void)sigemptyset(&signal_);
    (void)sigaddset(&signal_, SIGPIPE);
    blocked_ = pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0;
  }
  ~NoBrokenPipeSignal() {
    if (!blocked_) return;
    const int error = errno;
    const timespec now{};
    while (sigtimedwait(&signal_, nullptr, &now) < 0 && errno == EINTR) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool blocked_ = false;
};

}  // namespace

Result<SnapshotFile> SnapshotFile::create(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::wrong_usage, -1, "the snapshot needs a path");
  SnapshotFile file(path);
  struct stat about {};
  const bool exists = ::stat(path.c_str(), &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return file.failure("create");
  }
  const bool opened = exists && !S_ISREG(about.st_mode) ? file.open_in_place() : file.open_beside();
  if (!opened) return file.failure("create");
  return file;
}

bool SnapshotFile::open_in_place() {
  // Without O_NONBLOCK a pipe that nobody reads would stop the program here.
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  return descriptor_ >= 0 && ::fcntl(descriptor_, F_SETFL, 0) == 0;
}

bool SnapshotFile::open_beside() {
  static std::atomic<int> next{0};  // two threads may write to one path
  target_ = without_links(path_);
  if (target_.empty()) return false;
  struct stat about {};
  const bool replaces = ::stat(target_.c_str(), &about) == 0;
  const mode_t mode = replaces ? about.st_mode & 0777 : 0666;
  do {
    temporary_ = fmt::format("{}.{}-{}.tmp", target_, getpid(), next.fetch_add(1));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  return descriptor_ >= 0;
}

SnapshotFile::SnapshotFile(SnapshotFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

SnapshotFile::~SnapshotFile() {
  if (descriptor_ < 0) return;
  (void)::close(descriptor_);
  if (!temporary_.empty()) (void)::unlink(temporary_.c_str());
}

tl::unexpected<Error> SnapshotFile::failure(const char* what) const {
  const int reason = errno;
  return fail(ErrorCode::io_error, -1,
              "cannot {} the snapshot {}: {}. The recording is kept; try another path.", what, path_,
              std::generic_category().message(reason));
}

Status SnapshotFile::write(std::span<const std::byte> bytes) {
  const NoBrokenPipeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status SnapshotFile::commit() {
  // Pipes, devices and some file systems (9p) cannot; their data is where it will be.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) return failure("write");
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (temporary_.empty()) return closed == 0 ? Status() : failure("write");
  if (closed != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const auto error = failure("write");
    (void)::unlink(temporary_.c_str());
    return error;
  }
  return {};
}

}  // namespace gpustrata::capture
