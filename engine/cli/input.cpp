#include "engine/cli/input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/status.h"
#include "engine/cli/progress.h"
#include "engine/cli/read_ahead.h"
#include "engine/io/any_reader.h"

namespace memstrata::cli {

namespace {

constexpr int64_t kReadAheadFrom = int64_t{4} << 20;  // bytes of a file

[[nodiscard]] tl::unexpected<ReadFailure> unreadable(std::string message) {
  return tl::unexpected(ReadFailure{"unreadable", std::move(message)});
}

[[nodiscard]] tl::unexpected<ReadFailure> failure_of(const Error& error) {
  return tl::unexpected(ReadFailure{std::string(name_of(error.code)), error.message, error.offset});
}

// Closes what it opened; standard input stays open.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

int64_t default_budget_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return int64_t{8} << 30;
  return int64_t{pages} * page_bytes / 4 * 3;
}

tl::expected<void, ReadFailure> read_recording(const std::string& path, model::Recording& recording) {
  const Descriptor input(path);
  if (input.get() < 0)
    return unreadable(fmt::format("This file cannot be opened: {}.", std::strerror(errno)));
  struct stat status {};
  if (fstat(input.get(), &status) != 0) {
    return unreadable(fmt::format("This file cannot be examined: {}.", std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) return unreadable("This is a folder. Name the snapshot files in it.");

  const int64_t total = S_ISREG(status.st_mode) ? int64_t{status.st_size} : -1;
  Progress progress(path, total);
  io::AnyReader reader(recording);
  if (total >= 0) reader.expect_bytes(total);
  {
    // A pipe may wait for its writer, and a small file is there at once: they are read here.
    ReadAhead ahead(input.get(), total > kReadAheadFrom);
    for (int64_t so_far = 0; !reader.done();) {
      const ReadAhead::Answer answer = ahead.take(reader.writable());
      if (answer.error != 0)
        return unreadable(fmt::format("Reading failed: {}.", std::strerror(answer.error)));
      if (answer.bytes == 0) break;
      ahead.start(reader.writable_ahead());
      if (const Status pushed = reader.commit(answer.bytes); !pushed) return failure_of(pushed.error());
      so_far += static_cast<int64_t>(answer.bytes);
      progress.read(so_far);
    }
  }  // nobody fills the reader's buffers any more
  progress.phase("sorting tables");
  if (const Status finished = reader.finish(); !finished) return failure_of(finished.error());
  if (total >= 0) recording.input_bytes = total;  // also if the rest did not matter
  return {};
}

}  // namespace memstrata::cli
