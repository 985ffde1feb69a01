// From a path to a Recording, a step at a time, for callers that do something in between: show how far it is,
// or stop. "-" is standard input.
//
//   open();  while (step()) { ... }  finish();
//
// After a failure, or to stop, it is destroyed; the recording is of no use then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cli/failure.h"
#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::cli {

class FileReading {
 public:
  // Every byte of the file goes to `copy`, too, if there is one, as it was read and in order.
  FileReading(std::string path, model::Recording& recording, io::ByteSink* copy = nullptr);
  ~FileReading();
  FileReading(const FileReading&) = delete;
  FileReading& operator=(const FileReading&) = delete;

  // Failure: unreadable.
  [[nodiscard]] Outcome<void> open();
  // Reads what the reader takes at once, up to some MiB; false: nothing is left. Failure: unreadable, unwritable
  // (`copy`), or what is wrong with the file.
  [[nodiscard]] Outcome<bool> step();
  [[nodiscard]] Outcome<void> finish();

  [[nodiscard]] int64_t total_bytes() const { return total_; }  // -1 = unknown (a pipe)
  [[nodiscard]] int64_t bytes_so_far() const { return so_far_; }

 private:
  struct Input;

  [[nodiscard]] tl::unexpected<Failure> unreadable(std::string message) const;

  std::string path_;
  model::Recording& recording_;
  io::ByteSink* copy_;
  int64_t total_ = -1;
  int64_t so_far_ = 0;
  std::unique_ptr<Input> input_;
};

}  // namespace gpustrata::cli
