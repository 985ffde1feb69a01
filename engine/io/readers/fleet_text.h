// The JSON text of a reduced fleet, whole and in memory, to a model::Fleet: fleet_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/status.h"
#include "engine/model/diagnostics.h"
#include "engine/model/fleet.h"

namespace gpustrata::io {

inline constexpr size_t kFleetTextPadding = 64;  // bytes that must be readable behind the text

class FleetText {
 public:
  FleetText(model::Fleet& fleet, model::Diagnostics& diagnostics);
  ~FleetText();
  FleetText(const FleetText&) = delete;
  FleetText& operator=(const FleetText&) = delete;

  // `text` is one object from its first to its last byte, `offset` its place in the file. Error: invalid_format and
  // the byte, unsupported (a higher version), limit_exceeded. Then the fleet is of no use.
  [[nodiscard]] Status read(std::span<char> text, int64_t offset);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpustrata::io
