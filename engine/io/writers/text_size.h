// How long a converted file gets, and how long it may get.
//
// Text has no references: JSON and CSV write what rows share (stacks, contexts, notes) at each of them,
// pickles still do so with unknown data. So a file of 1.5 KB can stand for terabytes of text. What can be
// known is refused before the first byte is written; escapes and keys are counted while they are written.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/io/byte_sink.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

// What the rows of some parts become. Each `add` is O(rows); the numbers are saturated.
class TextSize {
 public:
  // `bytes_per_frame` is what a frame takes besides its texts.
  TextSize(const model::Recording& recording, int64_t bytes_per_frame);

  // Finds the length of each stack: O(frames of all stacks), 8 bytes each. To be called first. False: the
  // budget refuses.
  [[nodiscard]] bool measure_stacks();
  void add_events(model::RowRange events);
  void add_segments(model::RowRange segments);  // and their blocks with their histories
  void add_blocks(model::RowRange segments);    // only those, without histories
  void add_points(model::RowRange series);      // with what their labels and notes hold
  void add(const model::Part& part);
  // Only for the limit: rows without what they hold. O(segments).
  void add_rows(const model::Part& part);

  // Bytes of texts and frames, each at least as long as this once it is escaped.
  [[nodiscard]] int64_t at_least() const { return bytes_; }
  // Far more than rows of a real run need (limits.h).
  [[nodiscard]] int64_t limit() const;

 private:
  void add_row(StackId stack, StringId first = {}, StringId second = {});
  void add_bytes(int64_t bytes) { bytes_ = bytes > INT64_MAX - bytes_ ? INT64_MAX : bytes_ + bytes; }

  const model::Recording& rec_;
  int64_t bytes_per_frame_;
  Column<int64_t> of_node_{rec_.budget};  // bytes of a stack whose innermost frame is this node
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

// "as JSON this file would be longer than 1.00 GiB ...". `form` is "JSON", "CSV" or "a pickle".
[[nodiscard]] Status too_long_as(std::string_view form, int64_t limit);

// Hands on what it gets, up to `limit` bytes; then fails with too_long_as.
class BoundedSink final : public ByteSink {
 public:
  BoundedSink(ByteSink& sink, int64_t limit, std::string_view form)
      : sink_(sink), limit_(limit), left_(limit), form_(form) {}
  [[nodiscard]] Status write(std::span<const std::byte> bytes) override;

 private:
  ByteSink& sink_;
  int64_t limit_;
  int64_t left_;
  std::string_view form_;
};

}  // namespace gpustrata::io
