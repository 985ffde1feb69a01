// One device of a snapshot, ready for questions: its rows, which block lived when, and the allocator's state
// after every event, which is found when first asked for.
//
// Pinned host memory is a device like any other: `part` then has the host's tables as those of its only
// device. Nothing above needs to know the difference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/base/status.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/state_history.h"

namespace gpustrata::replay {

// Never moves: timelines and states refer to it.
class Device {
 public:
  // Refers to the recording. A device without rows has no events and no blocks. Error: limit_exceeded.
  [[nodiscard]] static Result<std::unique_ptr<Device>> open(const model::Recording& recording,
                                                            const model::Part& part, int32_t ordinal);

  [[nodiscard]] int32_t ordinal() const { return rows.device; }
  // Found when first asked, kept from then on. Error: limit_exceeded; a later call tries again.
  [[nodiscard]] Result<const StateHistory*> history();
  // Works on that until a share of it is done (StateBuilder), 1 = all; for long traces. True = history() is
  // there at once now. Error: limit_exceeded; a later call begins anew.
  [[nodiscard]] Result<bool> build_history(double share);

  const model::Recording& recording;
  const model::Part part;
  const DeviceRows rows;
  const BlockLives lives;

 private:
  Device(const model::Recording& recording_, model::Part&& part_, int32_t ordinal, BlockLives&& found);

  std::optional<StateBuilder> builder_;
  std::optional<StateHistory> history_;
};

}  // namespace gpustrata::replay
