#include "engine/cli/input/file_reading.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/cli/input/descriptor.h"
#include "engine/cli/input/read_ahead.h"
#include "engine/io/any_reader.h"

namespace gpustrata::cli {

namespace {

constexpr int64_t kReadAheadFrom = int64_t{4} << 20;  // bytes of a file
constexpr size_t kRestPiece = size_t{1} << 20;

}  // namespace

struct FileReading::Input {
  Input(const std::string& path, model::Recording& recording) : file(path), reader(recording) {}

  Descriptor file;
  io::AnyReader reader;
  std::span<std::byte> begun;      // what is read ahead into
  std::vector<std::byte> rest;     // takes what the reader needs no more
  std::optional<ReadAhead> ahead;  // the last: it fills the buffers above
};

FileReading::FileReading(std::string path, model::Recording& recording, io::ByteSink* copy)
    : path_(std::move(path)), recording_(recording), copy_(copy) {}
FileReading::~FileReading() = default;

tl::unexpected<Failure> FileReading::unreadable(std::string message) const {
  return failure(kUnreadable, path_, std::move(message));
}

Outcome<void> FileReading::open() {
  input_ = std::make_unique<Input>(path_, recording_);
  const int file = input_->file.get();
  if (file < 0) return unreadable(fmt::format("This file cannot be opened: {}.", std::strerror(errno)));
  struct stat status {};
  if (fstat(file, &status) != 0)
    return unreadable(fmt::format("This file cannot be examined: {}.", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) return unreadable("This is a folder. Name the snapshot files in it.");
  total_ = S_ISREG(status.st_mode) ? int64_t{status.st_size} : -1;
  if (total_ >= 0) input_->reader.expect_bytes(total_);
  // A pipe may wait for its writer, and a small file is there at once: they are read by step().
  input_->ahead.emplace(file, total_ > kReadAheadFrom);
  return {};
}

Outcome<bool> FileReading::step() {
  Input& in = *input_;
  const bool is_done = in.reader.done();
  if (is_done && copy_ == nullptr) return false;
  if (is_done && in.rest.empty()) in.rest.resize(kRestPiece);
  const std::span<std::byte> buffer = !is_done           ? in.reader.writable()
                                      : in.begun.empty() ? std::span(in.rest)
                                                         : in.begun;
  const ReadAhead::Answer answer = in.ahead->take(buffer);
  if (answer.error != 0) return unreadable(fmt::format("Reading failed: {}.", std::strerror(answer.error)));
  if (answer.bytes == 0) return false;
  if (copy_ != nullptr) {
    if (const Status copied = copy_->write(buffer.first(answer.bytes)); !copied)
      return failure(kUnwritable, path_, copied.error().message);
  }
  in.begun = {};
  if (is_done) return true;
  in.begun = in.reader.writable_ahead();
  in.ahead->start(in.begun);
  if (const Status pushed = in.reader.commit(answer.bytes); !pushed) return failure(pushed.error(), path_);
  so_far_ += static_cast<int64_t>(answer.bytes);
  return true;
}

Outcome<void> FileReading::finish() {
  input_->ahead.reset();  // nobody fills the reader's buffers any more
  if (const Status finished = input_->reader.finish(); !finished) return failure(finished.error(), path_);
  if (total_ >= 0) recording_.input_bytes = total_;  // also if the rest did not matter
  return {};
}

}  // namespace gpustrata::cli
