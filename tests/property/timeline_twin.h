// The timeline, written as plainly as possible: lists, loops and doubles. Shares no code with engine/replay.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "engine/model/recording.h"
#include "engine/replay/timeline.h"

namespace gpustrata::replay {

struct TwinBlock {
  uint64_t address;
  int64_t size;
  int32_t born;  // -1 = from the start
  int32_t freed;
  uint32_t version;
  int32_t source;
};

struct TwinColumn {
  int32_t event = -2;
  double highest = 0, lowest = 0, allocated = 0, reserved = 0;
};

struct Twin {
  Twin(const model::Recording& recording, const model::Part& part, int32_t device);

  [[nodiscard]] int64_t level_after(int32_t event) const {
    return event < 0 ? initial_level : level[static_cast<size_t>(event)];
  }
  [[nodiscard]] std::vector<int32_t> live_after(int32_t event) const;  // ranks, lowest band first
  [[nodiscard]] TwinColumn column(Axis axis, int64_t k, int64_t width) const;
  // Event whose state tells where the block lies in the column, -2 = its life does not touch it.
  [[nodiscard]] int32_t event_in_life(Axis axis, int64_t k, int64_t width, const TwinBlock& block) const;
  [[nodiscard]] int32_t block_at(int32_t event, double height) const;  // rank, -1 = none
  [[nodiscard]] uint32_t pixel(int32_t event, double centre, double bytes_per_row) const;
  // Red, green, blue (0..255) of the light that the bytes [floor(low), floor(high)) of the stack give
  // together.
  [[nodiscard]] std::array<double, 3> mean_colour(int32_t event, double low, double high,
                                                  const std::function<uint32_t(int32_t)>& colour_of) const;
  [[nodiscard]] int64_t bytes_below(int32_t rank, int32_t event) const;

  std::vector<TwinBlock> blocks;  // in stack order
  std::vector<int64_t> level, pending, reserved, time;
  int64_t initial_level = 0;
  int64_t initial_pending = 0;
  int64_t initial_reserved = 0;
  int32_t events = 0;
  bool has_times = false;
};

}  // namespace gpustrata::replay
