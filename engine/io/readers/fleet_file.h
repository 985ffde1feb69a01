// A reduced fleet: what `gpustrata fleet -o` writes of a thousand ranks ("The reduced file, version 1" in
// engine/fleet/README.md). JSON with the outer key "gpustrata_fleet".
//
// Becomes a part with a model::Fleet and no rows in the tables. The file is a few MB and wanted as a whole, so it is kept
// until its end and read at once: one that ends early or is damaged is refused with the byte, and so is a higher version,
// columns of different length, and curves that are not rows x 128 bytes. Left out and counted: unknown keys, values of
// another type, rows that are not there.
#pragma once

#include <memory>

#include "engine/io/reader.h"
#include "engine/model/recording.h"

namespace gpustrata::io {

class FleetFileReader final : public Reader {
 public:
  FleetFileReader(model::Recording& recording, LeftOpen);
  ~FleetFileReader() override;

  [[nodiscard]] std::span<std::byte> writable() override;
  [[nodiscard]] Status commit(size_t bytes) override;
  [[nodiscard]] Status finish() override;
  [[nodiscard]] bool done() const override { return false; }
  void expect_bytes(int64_t total) override;
  [[nodiscard]] std::string format() const override { return "json"; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpustrata::io
