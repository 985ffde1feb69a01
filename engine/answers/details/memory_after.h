// The memory after an event: totals, one block, one segment, what lies under a pointer, and all of it.
#pragma once

#include <optional>

#include "engine/analysis/details/memory_after.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/state_layout.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::MemoryTotals& totals);

// What lies at a point where a segment is.
void describe(Members& m, const analysis::EventContext& context, const replay::MemoryAt& memory,
              const replay::StateLayout::Hit& hit);

void describe(Members& m, const analysis::EventContext& context, const analysis::StateBlock& block);

void describe(Members& m, const analysis::EventContext& context, const analysis::StateSegment& segment);
// All but its row.
void describe_members(Members& m, const analysis::EventContext& context,
                      const analysis::StateSegment& segment);

// The answer of `gpustrata state --json`.
void describe(Members& m, const model::Recording& recording, const replay::StateHistory& history,
              const replay::MemoryAt& memory);

// The same as lines for a terminal, "Device 0 after event 3 ...": totals, then segments with their blocks.
// Texts of the file do not occur in it.
void to_text(TextOut& out, const model::Recording& recording, const replay::StateHistory& history,
             const replay::MemoryAt& memory);

}  // namespace gpustrata::answers
