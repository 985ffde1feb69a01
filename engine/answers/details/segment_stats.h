// What the bytes of every segment are used for: the answer of `gpustrata stats`.
#pragma once

#include "engine/analysis/details/segment_stats.h"
#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"
#include "engine/base/json_writer.h"
#include "engine/replay/memory_at.h"

namespace gpustrata::answers {

void describe(Members& m, const analysis::EventContext& context, const replay::MemoryAt& memory,
              const analysis::MemoryStats& stats);

// Segments as bars, then sums, then what a character means.
void to_text(TextOut& out, const analysis::EventContext& context, const replay::MemoryAt& memory,
             const analysis::MemoryStats& stats);

}  // namespace gpustrata::answers
