// A reduced fleet: what `gpustrata fleet -o` writes of a thousand ranks ("The reduced file, version 1" in
// engine/fleet/README.md). JSON with the outer key "gpustrata_fleet".
//
// Only the page looks into it, and has JSON.parse: the file becomes a part with its text, and no rows in the tables.
// web/src/model/fleet_file.ts checks its shape. Refused here: a text that is too long, or that does not end as an object does.
#pragma once

#include "engine/base/column.h"
#include "engine/io/containers/input_buffer.h"
#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class FleetFileReader final : public Reader {
 public:
  FleetFileReader(model::Recording& recording, LeftOpen) : recording_(recording), text_(recording.budget) {}

  [[nodiscard]] std::span<std::byte> writable() override { return buffer_.writable(); }
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override { return false; }
  void expect_bytes(int64_t /*total*/) override {}
  [[nodiscard]] std::string format() const override { return "json"; }

 private:
  model::Recording& recording_;
  InputBuffer buffer_;
  Column<uint8_t> text_;
};

}  // namespace gpustrata::io
