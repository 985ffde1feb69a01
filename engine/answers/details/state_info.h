// What a view of the allocator's states tells, as JSON: counts, places, the rows of the address map.
#pragma once

#include <optional>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/details/state_info.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::StateInfo& info);

// Its rectangles are columns.
struct StateLayout {
  const analysis::MemoryTotals& totals;
};
void describe(Members& m, const StateLayout& layout);

void describe(Members& m, const analysis::StatePlace& place);

void describe(Members& m, const analysis::EventContext& context, const analysis::RegionList& regions);

}  // namespace gpustrata::answers
