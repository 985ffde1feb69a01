// One device of a file with its history, as the commands about states look at it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/analysis/device/event_context.h"
#include "engine/cli/moment.h"
#include "engine/cli/one_file.h"
#include "engine/replay/device.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::cli {

struct OpenedDevice {
  std::unique_ptr<replay::Device> device;
  const replay::StateHistory& history;
  analysis::DeviceIndex index;

  [[nodiscard]] analysis::Moments moments() const {
    return {history.event_count(), device->lives.peak_event};
  }
  [[nodiscard]] analysis::EventContext context() const {
    return {device->recording, device->part, history, device->lives, index};
  }
};

// Error: limit_exceeded.
[[nodiscard]] Result<OpenedDevice> open_device(const model::Recording& recording, const Chosen& chosen);

// `memory` is of `opened`. Error: limit_exceeded.
[[nodiscard]] Status go_to(replay::MemoryAt& memory, int32_t event);

}  // namespace gpustrata::cli
