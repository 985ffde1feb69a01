// A file written beside its place and then renamed, so that nobody sees half of it and an old one survives a
// failure. "-" is standard output.
#pragma once

#include <cstdint>
#include <string>

#include "engine/io/byte_sink.h"

namespace memstrata::cli {

class Progress;

class OutputFile final : public io::ByteSink {
 public:
  OutputFile(std::string path, Progress& progress) : path_(std::move(path)), progress_(progress) {}
  // Takes the unfinished file away.
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // An Error is a sentence with the system's reason, for the person who named the path.
  [[nodiscard]] Status open();
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;
  // Puts the file in its place.
  [[nodiscard]] Status finish();
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }

  std::string path_;
  std::string beside_;  // empty: not made
  Progress& progress_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

}  // namespace memstrata::cli
