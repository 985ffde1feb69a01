// Reads a file of any kind this program knows: decides from its beginning (registry.h), then hands over.
//
// Every client opens files through this class, so that the same bytes are the same kind everywhere. What is
// inside of a container (gzip, zstd, zip, a web page) is read through it again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/io/containers/opened_file.h"
#include "engine/io/reader.h"
#include "engine/io/registry.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class AnyReader final : public Reader {
 public:
  // A file of its own: `finish` seals the recording and states its format and size.
  explicit AnyReader(model::Recording& recording);
  // What lies inside `place` of a file, `depth` containers deep. The recording stays open.
  AnyReader(OpenedFile& file, std::string place, int depth);
  ~AnyReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] std::span<std::byte> writable_ahead() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return format_; }

  // The bytes began like something that is read here, whatever became of it.
  [[nodiscard]] bool recognised() const { return recognised_; }

 private:
  // Decides, or wants more of the beginning; `is_all`: nothing comes behind it.
  [[nodiscard]] Status look_at(std::span<const std::byte> beginning, bool is_all);
  [[nodiscard]] Status choose_container();
  [[nodiscard]] Status choose_kind(const Told& told);
  void take(std::unique_ptr<Reader> reader);
  [[nodiscard]] Status hand_over(std::span<const std::byte> bytes);

  std::unique_ptr<OpenedFile> own_file_;  // none inside a container
  OpenedFile& file_;
  std::string place_;
  int depth_;
  // Of the most likely kind; its buffer takes the bytes before the decision. None after finish().
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Reader> before_;  // that one while another takes over from it
  std::vector<std::byte> head_;     // bytes that came in before there were enough to decide
  std::string format_;
  int64_t expected_ = 0;
  Sniffed sniffed_;
  std::string told_by_;      // as model::Part has it; empty for a container
  size_t parts_before_ = 0;  // of the recording
  bool is_sniffed_ = false;
  bool decided_ = false;
  bool recognised_ = false;
};

}  // namespace gpustrata::io
