#include "engine/cli/input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "engine/base/units.h"
#include "engine/cli/progress.h"
#include "engine/cli/read_ahead.h"
#include "engine/io/any_reader.h"

namespace memstrata::cli {

namespace {

constexpr int64_t kReadAheadFrom = int64_t{4} << 20;  // bytes of a file
constexpr size_t kRestPiece = size_t{1} << 20;

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

Outcome<void> read_recording(const std::string& path, model::Recording& recording, const Console& console) {
  return read_recording(path, recording, console, nullptr);
}

Outcome<void> read_recording(const std::string& path, model::Recording& recording, const Console& console,
                             io::ByteSink* copy) {
  const auto unreadable = [&](std::string message) { return failure(kUnreadable, path, std::move(message)); };
  const Descriptor input(path);
  if (input.get() < 0)
    return unreadable(fmt::format("This file cannot be opened: {}.", std::strerror(errno)));
  struct stat status {};
  if (fstat(input.get(), &status) != 0)
    return unreadable(fmt::format("This file cannot be examined: {}.", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) return unreadable("This is a folder. Name the snapshot files in it.");

  const int64_t total = S_ISREG(status.st_mode) ? int64_t{status.st_size} : -1;
  Progress progress(console, path, total);
  io::AnyReader reader(recording);
  if (total >= 0) reader.expect_bytes(total);
  {
    // A pipe may wait for its writer, and a small file is there at once: they are read here.
    ReadAhead ahead(input.get(), total > kReadAheadFrom);
    std::span<std::byte> begun;   // what is read ahead into
    std::vector<std::byte> rest;  // takes what the reader needs no more
    for (int64_t so_far = 0; !reader.done() || copy != nullptr;) {
      if (reader.done() && rest.empty()) rest.resize(kRestPiece);
      const std::span<std::byte> buffer = !reader.done()  ? reader.writable()
                                          : begun.empty() ? std::span(rest)
                                                          : begun;
      const ReadAhead::Answer answer = ahead.take(buffer);
      if (answer.error != 0)
        return unreadable(fmt::format("Reading failed: {}.", std::strerror(answer.error)));
      if (answer.bytes == 0) break;
      if (copy != nullptr) {
        if (const Status copied = copy->write(buffer.first(answer.bytes)); !copied)
          return failure(kUnwritable, path, copied.error().message);
      }
      begun = {};
      if (reader.done()) continue;
      begun = reader.writable_ahead();
      ahead.start(begun);
      if (const Status pushed = reader.commit(answer.bytes); !pushed) return failure(pushed.error(), path);
      so_far += static_cast<int64_t>(answer.bytes);
      progress.read(so_far);
    }
  }  // nobody fills the reader's buffers any more
  progress.phase("sorting tables");
  if (const Status finished = reader.finish(); !finished) return failure(finished.error(), path);
  if (total >= 0) recording.input_bytes = total;  // also if the rest did not matter
  return {};
}

Outcome<std::string> read_text(const std::string& path, size_t most_bytes, std::string_view what) {
  const auto unreadable = [&](int error) { return failure(kUnreadable, path, std::strerror(error)); };
  const Descriptor input(path);
  if (input.get() < 0) return unreadable(errno);
  std::string text;
  for (;;) {
    constexpr size_t kPiece = size_t{64} << 10;
    const size_t held = text.size();
    text.resize(held + kPiece);
    const ssize_t count = ::read(input.get(), text.data() + held, kPiece);
    if (count < 0 && errno != EINTR) return unreadable(errno);
    text.resize(held + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
    if (text.size() > most_bytes)
      return failure(kUnreadable, path,
                     fmt::format("{} may have up to {}.", what, size_text(static_cast<int64_t>(most_bytes))));
  }
}

}  // namespace memstrata::cli
