// What undoing found wrong, counted; the first of a kind with its event and address.
#pragma once

#include <fmt/core.h>

#include <cstdint>

#include "engine/model/diagnostics.h"

namespace gpustrata::replay {

class UndoNotes {
 public:
  explicit UndoNotes(model::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  // `event` may be the number of events: the final state itself.
  void add(model::Diag diag, int32_t event, int32_t event_count, uint64_t address) {
    if (diagnostics_[diag].count > 0) {
      diagnostics_.add(diag);
    } else if (event >= event_count) {
      diagnostics_.add(diag, -1, fmt::format("final state, address {:#x}", address));
    } else {
      diagnostics_.add(diag, -1, fmt::format("event {}, address {:#x}", event, address));
    }
  }

 private:
  model::Diagnostics& diagnostics_;
};

}  // namespace gpustrata::replay
