// Why a request failed, in words and as JSON (analysis/findings/out_of_memory.h).
#pragma once

#include <string>
#include <string_view>

#include "engine/analysis/findings/out_of_memory.h"
#include "engine/answers/described/members.h"
#include "engine/model/recording.h"

namespace gpustrata::answers {

// "too_big", "full", "fragmented", "elsewhere", "too_late", "limit", "unknown"
[[nodiscard]] std::string_view name_of(analysis::Verdict verdict);
// "the device was full": a title.
[[nodiscard]] std::string_view words_of(analysis::Verdict verdict);
// "expandable_segments", "free_pins", "smaller_request", "use_less", "largest_holder", "checkpoint",
// "fused_attention", "chunked_loss", "ask_again", "free_pending", "share_streams", "raise_limit", "other_processes"
[[nodiscard]] std::string_view name_of(analysis::RemedyKind kind);

// One to three sentences for somebody who does not know the run: what was asked for, what was free, why it was no use.
[[nodiscard]] std::string verdict_text(const model::Recording& recording,
                                       const analysis::ExplainedOutOfMemory& one);
// What the rest of the run needs at least, and why.
[[nodiscard]] std::string needed_at_least_text(const model::Recording& recording,
                                               const analysis::NeededAtLeast& needed);
[[nodiscard]] std::string remedy_text(const model::Recording& recording,
                                      const analysis::ExplainedOutOfMemory& one,
                                      const analysis::Remedy& remedy);
// "112.0 MiB in one piece, 0.8 GiB in 345 free blocks of large blocks, stream 0: too small".
[[nodiscard]] std::string place_text(const model::Recording& recording, const analysis::FreePlace& place);

// "the default pool, stream 0, large blocks"
[[nodiscard]] std::string place_name(const model::Recording& recording, const analysis::FreePlace& place);
// "too small"
[[nodiscard]] std::string_view why_text(const analysis::FreePlace& place);
void describe_place(Members& m, const model::Recording& recording, const analysis::FreePlace& place);
// A line to set, or to write; empty = none.
[[nodiscard]] std::string_view code_of(analysis::RemedyKind kind);

// In a profiler's trace the state is not known: its numbers are null, and there are no places.
void describe(Members& m, const model::Recording& recording, const analysis::ExplainedOutOfMemory& one);

}  // namespace gpustrata::answers
