#include "engine/cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/cli/progress.h"

namespace memstrata::cli {

namespace {

[[nodiscard]] Status failed(const char* what, int error) {
  return fail(ErrorCode::internal, -1, "{}: {}.", what, std::strerror(error));
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0 && !is_standard_output()) ::close(fd_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

Status OutputFile::open() {
  if (is_standard_output()) {
    fd_ = STDOUT_FILENO;
    return {};
  }
  if (char* const target = realpath(path_.c_str(), nullptr)) {  // a link stays, what it leads to is replaced
    path_ = target;
    std::free(target);
  }
  struct stat status {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::internal, -1, "This is a folder. Name a file in it.");
  }
  if (exists && !S_ISREG(status.st_mode)) {  // a pipe, /dev/null: nothing to rename
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) return failed("This file cannot be written", errno);
    return {};
  }
  const std::string name = path_ + ".part-" + std::to_string(getpid());
  const mode_t mode = exists ? status.st_mode & 0777 : 0666;
  fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd_ < 0) return failed("This file cannot be written", errno);
  beside_ = name;
  return {};
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("Writing failed", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
    bytes_ += count;
  }
  progress_.written(bytes_);
  return {};
}

Status OutputFile::finish() {
  if (is_standard_output()) return {};
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) return failed("Writing failed", errno);
  if (beside_.empty()) return {};
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return failed("This file cannot be written", errno);
  beside_.clear();
  return {};
}

}  // namespace memstrata::cli
