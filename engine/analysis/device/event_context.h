// One device with all that questions about its events and states need. Refers to what the caller holds.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/analysis/device/device_index.h"
#include "engine/model/recording.h"
#include "engine/replay/block_lives.h"
#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

struct EventContext {
  const model::Recording& recording;
  const model::Part& part;
  const replay::StateHistory& history;
  const replay::BlockLives& lifetimes;  // the timeline of the same device
  const DeviceIndex& index;

  // Row of EventTable of an event of the device.
  [[nodiscard]] size_t row(int32_t event) const {
    return static_cast<size_t>(history.rows.events.first + event);
  }
  // Microseconds, as the clock of the device's part tells them.
  [[nodiscard]] std::optional<int64_t> time_us(int32_t event) const {
    return part.clock.microseconds(recording.events.time[row(event)]);
  }
  [[nodiscard]] int32_t stream_number(StreamId stream) const { return index.streams[stream]; }
};

// The device has events besides those that mark a snapshot: PyTorch of 2022 writes one for each, with or without a history.
[[nodiscard]] inline bool has_history(const model::Recording& recording, model::RowRange events) {
  for (int32_t row = events.first; row < events.end(); ++row) {
    if (recording.events.action[static_cast<size_t>(row)] != trace::Action::snapshot) return true;
  }
  return false;
}

}  // namespace gpustrata::analysis
