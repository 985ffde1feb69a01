#include "engine/cli/input/read_ahead.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace gpustrata::cli {

namespace {

// Small enough to be in the processor's cache when it is parsed.
constexpr size_t kPiece = size_t{1} << 20;

[[nodiscard]] ReadAhead::Answer read_some(int file, std::span<std::byte> buffer) {
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), std::min(buffer.size(), kPiece));
    if (count >= 0) return {static_cast<size_t>(count), 0};
    if (errno != EINTR) return {0, errno};
  }
}

}  // namespace

ReadAhead::ReadAhead(int file, bool threaded) : file_(file) {
  if (!threaded) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // too many threads: it works without
  }
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  if (is_reading_) answered_.acquire();
  buffer_ = {};
  asked_.release();
  thread_.join();
}

void ReadAhead::run() {
  for (;;) {
    asked_.acquire();
    if (buffer_.empty()) return;
    answer_ = read_some(file_, buffer_);
    answered_.release();
  }
}

void ReadAhead::start(std::span<std::byte> buffer) {
  if (!thread_.joinable() || buffer.empty()) return;
  buffer_ = buffer;
  is_reading_ = true;
  asked_.release();
}

ReadAhead::Answer ReadAhead::take(std::span<std::byte> buffer) {
  if (!is_reading_) return read_some(file_, buffer);
  answered_.acquire();
  is_reading_ = false;
  return answer_;
}

}  // namespace gpustrata::cli
