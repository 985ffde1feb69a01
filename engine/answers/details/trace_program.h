// The history of a device for `gpustrata trace`.
#pragma once

#include "engine/analysis/device/event_context.h"
#include "engine/answers/described/members.h"
#include "engine/answers/text/text_out.h"

namespace gpustrata::answers {

// The events as a program, one a line: "b0 = s0[0x200:1.0 KiB]", "del b0", "s0 = cudaMalloc(0x7f.., 2.0
// MiB)"; in the end what is live. Names are those of analysis/details/trace_program.h. Error: limit_exceeded.
[[nodiscard]] Status trace_to_text(TextOut& out, const analysis::EventContext& context);

// The answer of `gpustrata trace --json`.
void describe(Members& m, const analysis::EventContext& context);

}  // namespace gpustrata::answers
