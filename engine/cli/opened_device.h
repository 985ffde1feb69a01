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

// The one that is chosen.
[[nodiscard]] Outcome<OpenedDevice> open_chosen(const model::Recording& recording, const FileChoice& choice);

// The memory after the event that is meant, and what `answer` makes of it.
template <typename Answer>
[[nodiscard]] Outcome<void> answer_at(const model::Recording& recording, const FileChoice& choice,
                                      const std::string& at, Answer&& answer) {
  const auto opened = open_chosen(recording, choice);
  if (!opened) return tl::unexpected(opened.error());
  const auto event = event_or_error(at, opened->moments());
  if (!event) return failure(event.error(), choice.file);
  replay::MemoryAt memory(opened->context.history, recording.budget);
  if (const Status there = go_to(memory, *event); !there) return failure(there.error(), choice.file);
  return answer(*opened, memory);
}

}  // namespace gpustrata::cli
