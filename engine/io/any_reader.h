// Reads a file of any kind this program knows: decides from the first bytes, then hands over.
//
// Every client opens files through this class, so that the same bytes are the same kind everywhere.
#pragma once

#include <memory>
#include <vector>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace memstrata::io {

class AnyReader final : public Reader {
 public:
  explicit AnyReader(model::Recording& recording);
  ~AnyReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] std::span<std::byte> writable_ahead() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override;
  void expect_bytes(int64_t total) override;

 private:
  [[nodiscard]] Status decide(std::span<const std::byte> first_bytes);

  std::unique_ptr<Reader> reader_;  // of the most likely kind; its buffer takes the bytes before the decision
  std::vector<std::byte> head_;     // bytes that came in before there were enough to decide
  bool decided_ = false;
};

}  // namespace memstrata::io
