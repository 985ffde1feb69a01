// A journal: what a program's recorder writes as it happens (the format: engine/io/journal/README.md). Version 1.
//
// Read are whole ones, those of a program that was killed (what was left in the ring is taken from there), torn ones (what was
// before the damage is shown, and counted), and those that still grow. The part is a snapshot of the last moment: the events,
// and segments and blocks as the last state and the events behind it make them.
// Not read: kinds of chunks and records that later versions may have; they are passed over.
// The file is kept in memory until its end, since what lies first in it is what happened last.
#pragma once

#include <string_view>

#include "engine/base/column.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

[[nodiscard]] bool begins_journal(std::string_view beginning);

class JournalReader final : public Reader {
 public:
  JournalReader(model::Recording& recording, LeftOpen) : recording_(recording), file_(recording.budget) {}

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override { return false; }
  void expect_bytes(int64_t total) override { expected_ = total; }
  [[nodiscard]] std::string format() const override { return "journal"; }

 private:
  [[nodiscard]] Status refused() const;

  model::Recording& recording_;
  InputBuffer buffer_;
  Column<std::byte> file_;
  int64_t expected_ = 0;
};

}  // namespace gpustrata::io
