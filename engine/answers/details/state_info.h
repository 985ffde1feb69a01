// What a view of the allocator's states tells: rectangles, counts, places, the rows of the address map.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/details/state_info.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"
#include "engine/replay/state_layout.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::StateInfo& info);

struct ShownRects {
  const replay::StateRects& rects;
  std::span<const int32_t> ranks;  // in the timeline
  bool has_look = false;           // they have colours
};
void describe(Members& m, const ShownRects& shown);

struct StateLayout {
  ShownRects shown;
  const analysis::MemoryTotals& totals;
};
void describe(Members& m, const StateLayout& layout);

// The picture itself is painted into the frame.
struct ShownMap {
  std::span<const int32_t> ranks;
  std::optional<std::span<const float>> free_shares = {};
};
void describe(Members& m, const ShownMap& map);

void describe(Members& m, const analysis::StatePlace& place);

void describe(Members& m, const analysis::EventContext& context, const analysis::RegionList& regions);

}  // namespace gpustrata::answers
