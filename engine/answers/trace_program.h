// The history of a device for `memstrata trace`.
#pragma once

#include "engine/analysis/event_context.h"
#include "engine/answers/sink.h"
#include "engine/replay/memory_at.h"

namespace memstrata::answers {

// The events as a program, one a line: "b0 = s0[0x200:1.0 KiB]", "del b0", "s0 = cudaMalloc(0x7f.., 2.0
// MiB)"; in the end what is live. Names are those of analysis/trace_program.h; texts of the file are as they
// are. Pieces end with a line. Error: limit_exceeded, io_error if the sink refuses.
[[nodiscard]] Status trace_to_text(const analysis::EventContext& context, const Sink& sink);

// {"device","events":[rows of the page's list, see events.h]} and a newline. Errors as above.
[[nodiscard]] Status trace_to_json(const analysis::EventContext& context, const Sink& sink);

}  // namespace memstrata::answers
