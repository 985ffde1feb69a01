// Remedies by what the program computes, where the lines of what is in use when a request fails show it (call_kinds.h).
//
//   checkpoint       what repeats (repeats.h) below a module's forward is kept for the backward pass: at most all but one of the
//                    repeats, as what each hands on to the next stays. The program must train: a backward pass, an optimizer
//                    or a function named for training asked for memory before. None of it was made by a backward pass, an
//                    optimizer, a constructor, or under checkpointing already
//   fused_attention  a softmax in attention is its scores, which a fused kernel never keeps. What else has their size is not counted.
//                    None where something in use comes from a fused kernel already
//   chunked_loss     a cross entropy, forwards and backwards: all but one of kChunks of it. None where a loss is fused or chunked
//
// Less than kLeastWorth of what was in use and asked for is none. What was not allocated in the recording is not counted. For requests
// that failed for want of memory: full, too_big, fragmented. O(blocks log blocks) a request.
#pragma once

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/out_of_memory.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

inline constexpr int64_t kChunks = 8;
inline constexpr double kLeastWorth = 0.05;

// Adds them to those of each request, ranked. Error: limit_exceeded.
[[nodiscard]] Status add_operator_remedies(const EventContext& context, OutOfMemoryEvents& events);

}  // namespace gpustrata::analysis
