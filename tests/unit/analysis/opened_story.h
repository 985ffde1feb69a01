// A Story with all that questions about one device need.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "engine/analysis/device/event_context.h"
#include "engine/replay/memory_at.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {

class OpenedStory {
 public:
  explicit OpenedStory(Story& story) : recording(story.recording) {
    EXPECT_TRUE(story.stored());
    recording.seal();
    auto found = story.lifetimes();
    EXPECT_TRUE(found.has_value());
    lifetimes = std::make_unique<replay::BlockLives>(std::move(*found));
    auto undone = replay::undo_to_start(recording, part(), replay::HandTrace::kDevice);
    EXPECT_TRUE(undone.has_value());
    history = std::make_unique<replay::StateHistory>(std::move(*undone));
    auto indexed = index_device(recording, part(), *lifetimes);
    EXPECT_TRUE(indexed.has_value());
    index = std::make_unique<DeviceIndex>(std::move(*indexed));
  }

  [[nodiscard]] const model::Part& part() const { return recording.parts[0]; }
  [[nodiscard]] EventContext context() const { return {recording, part(), *history, *lifetimes, *index}; }
  [[nodiscard]] replay::MemoryAt after(int32_t event) const {
    replay::MemoryAt memory(*history, recording.budget);
    EXPECT_TRUE(memory.go_to(event));
    return memory;
  }
  [[nodiscard]] replay::MemoryAt at_end() const { return after(history->event_count() - 1); }

  model::Recording& recording;
  std::unique_ptr<replay::BlockLives> lifetimes;
  std::unique_ptr<replay::StateHistory> history;
  std::unique_ptr<DeviceIndex> index;
};

}  // namespace gpustrata::analysis
