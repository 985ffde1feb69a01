// One device of a file with its history, as the commands about states look at it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/analysis/device/device.h"
#include "engine/cli/moment.h"
#include "engine/cli/one_file.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::cli {

struct OpenedDevice {
  std::unique_ptr<analysis::Device> device;
  analysis::EventContext context;

  [[nodiscard]] analysis::Moments moments() const {
    return {context.history.event_count(), context.lifetimes.peak_event};
  }
};

// `rules`: of categories. Error: limit_exceeded.
[[nodiscard]] Result<OpenedDevice> open_device(const model::Recording& recording, const Chosen& chosen,
                                               std::string_view rules = {});

// `memory` is of `opened`. Error: limit_exceeded.
[[nodiscard]] Status go_to(replay::MemoryAt& memory, int32_t event);

}  // namespace gpustrata::cli
