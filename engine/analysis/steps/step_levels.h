// Levels over the columns of an axis: that of events, that of times, or one that runs through the steps, or through the regions of
// one name, one after the other. There all are as wide, however many events each has, so that two runs can be laid over each other.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "engine/analysis/steps/marks.h"
#include "engine/analysis/steps/steps.h"
#include "engine/base/words.h"
#include "engine/replay/event_axis.h"
#include "engine/replay/series/series_picture.h"

namespace gpustrata::analysis {

GPUSTRATA_WORDS(LevelOf, allocated, reserved, cached, held_back);
GPUSTRATA_WORDS(LevelAxis, event, time, step, region);

// Events [begin, end).
struct Stretch {
  int32_t begin = 0, end = 0;

  bool operator==(const Stretch&) const = default;
};
// Of the axis that runs through stretches: each is so wide.
inline constexpr int64_t kStretchUnits = 65'536;

[[nodiscard]] std::vector<Stretch> stretches_of(const Steps& steps);
// The regions of that name, in the order in which they begin; not those inside of one of their own name, or without an event.
[[nodiscard]] std::vector<Stretch> stretches_of(const model::Recording& recording,
                                                std::span<const Region> regions, std::string_view name);

// The events of a column, or those of one stretch of it; columns ascend. None: nothing is there.
struct ColumnEvents {
  size_t column = 0;
  replay::EventRange events;
};
[[nodiscard]] std::vector<ColumnEvents> events_of_columns(const replay::Timeline& timeline,
                                                          const replay::ColumnGrid& columns);
// Stretches ascend and do not overlap.
[[nodiscard]] std::vector<ColumnEvents> events_of_columns(std::span<const Stretch> stretches,
                                                          const replay::SeriesGrid& columns);

// The highest and the lowest of it in so many columns; of what is reserved the highest alone. O(columns log events).
[[nodiscard]] replay::LevelValues level_values(const replay::Timeline& timeline,
                                               std::span<const ColumnEvents> events, size_t columns,
                                               LevelOf of);

}  // namespace gpustrata::analysis
