// What the rest of a run needs at least, where the recording ends at a request that failed.
//
// What came after is not in the recording, but something that did the same may have gone on: an earlier step of the device, but not
// the first, which makes what later ones have, or another device of the file. Such a reference counts if its allocations, from its
// first one on, were asked for by the same lines (own_frame.h) as those before the failure, all of them and kFewestSame at least,
// and the next one by that of the request that failed. From there on its blocks are followed:
//   done before the failure   their sizes here, as long as they live there; nothing if they are freed here already
//   not done here             of the reference, if all sizes before are the same; else the smallest that a block of the same
//                             line has here, nothing if there is none
//   kept of an earlier step   nothing of what is allocated after the part that is the same and is there at the failure still; where
//                             the steps are not sure, nothing of what outlives its step
//   older than the step before  those in use at the failure, less what the reference frees of its own; if sizes differ, only up
//                             to there
//   made in the step before   the same, but only where the reference had such ones, by the same stacks: others may be freed as the
//                             step goes on (the graph of the last loss, until the next one has its name)
// The most that is in use at once that way is what is needed, if it is more than what was in use and the request together. It is a
// lower bound for a run that goes on as the reference did. Requested bytes. O(events log events) a reference.
//
// Where a step fails before its backward pass has begun, and an earlier step, not the first, had one: its gradients will come, however
// other its allocations were. Those are the blocks that were made in a backward pass (call_kinds.h) and were in use after the last
// allocation of it; they count where none that an earlier step made is in use at the failure. With them, what is older than that
// step and has outlived it is needed at the end of the backward pass.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/analysis/steps/steps.h"
#include "engine/base/status.h"

namespace gpustrata::analysis {

inline constexpr int32_t kFewestSame = 20;

struct NeededAtLeast {
  int64_t bytes = 0;   // in use at once
  int64_t more = 0;    // than what was in use and the request that failed
  int32_t device = 0;  // of the reference
  int32_t step = -1;   // of the reference, from 0; -1 = it is all of another device
  int32_t event = 0;   // of the reference: there it had so much in use
  int32_t same = 0;    // allocations before the failure that the reference made, too
  bool same_sizes = true;
  // Of the blocks then in use that were not allocated here yet, those of the line with most bytes.
  Who who;
  int64_t blocks = 0, blocks_bytes = 0;
  int64_t done = 0;  // blocks of that line that were in use at the failure
  // Told by the gradients of that step alone; `same` and what follows it say nothing then. 0 = by its allocations.
  int64_t gradients = 0;
};

// `failure`: an `oom` event that ends the recording. `lines`: the keys by line where they are at hand. None: nothing went further, or it needed no more. Error: limit_exceeded.
[[nodiscard]] Result<std::optional<NeededAtLeast>> find_needed_at_least(const EventContext& context,
                                                                        const Steps& steps, int32_t failure,
                                                                        const Keys* lines = nullptr);

// Whether the file shows that no backward pass has begun since the step that failed did, or since the recording began: all
// allocations since have frames, some of compiled code, which autograd's are, and none is a backward pass's; something named for
// training asked for memory, or a backward pass before. O(events). Error: limit_exceeded.
[[nodiscard]] Result<bool> is_before_backward(const EventContext& context, const Steps& steps,
                                              int32_t failure);

}  // namespace gpustrata::analysis
