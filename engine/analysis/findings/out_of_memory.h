// Why a request failed: one `oom` event explained from the state in which the allocator raised it.
//
// By then everything that could be given back had been (allocator reference, section 7): what is still cached lies in
// segments with live blocks, in private pools, or is kept because a graph was captured. All bytes are exact for
// what the dump has; of blocks that are gone by then sizes are the recorded requests, rounded (state_history.h).
//
//   room      device free + cached + pending: all that live blocks leave
//   needed    what the device would have to give: the request's segment (2 MiB, 20 MiB, or whole 2 MiB), of an
//             expandable one whole pages (2 MiB, 20 MiB) as if none of it were there
//   own       free blocks of the pool (small or large blocks, default or private) and stream that the request
//             belongs to. A file before 2026 does not say the pool: the default one is assumed
//
// The verdict, the first that holds:
//   unknown     the request is 0, or the recording has no segment then: nothing about it is known. So it is of all
//               requests in a profiler's trace, which says what is allocated, and mostly what is reserved
//   too_big     more than the device can hold for this process, with all of its memory free: device free + reserved
//   full        more than the room: live blocks alone leave too little, in whatever pieces
//   limit       the device had as much as was needed, and refused: a limit (memory fraction, container, driver); or a
//               free block of its own was large enough, and max_split_size kept it from being used
//   too_late    a free block of its own was large enough, but became so only by the frees that the allocator completed while it
//               flushed its cache for this request, after which it asks the device alone (pytorch #189504); or such a block
//               waits to be freed still: for a stream, or for the end of a capture
//   elsewhere   a free block of another stream or pool would have been large enough, or the empty segments of private
//               pools together with what the device had
//   fragmented  the room is enough, nowhere in one piece
//   unknown     a free block of its own was large enough: recording and failure contradict each other
//
// A total of the device is in no file, so what other processes hold is not known; `device_free` is after them.
// O(blocks of the state + events).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/analysis/device/event_context.h"
#include "engine/analysis/findings/fragmentation.h"
#include "engine/analysis/findings/free_places.h"
#include "engine/analysis/findings/needed_at_least.h"
#include "engine/analysis/stacks/keys.h"
#include "engine/analysis/stacks/own_frame.h"
#include "engine/analysis/steps/loops.h"
#include "engine/base/status.h"
#include "engine/base/words.h"
#include "engine/replay/memory_at.h"
#include "engine/replay/recorded_settings.h"

namespace gpustrata::analysis {

inline constexpr size_t kMostExplained =
    64;  // oom events of a device; the last ones, as only they are the end
// Segments that a remedy names at most: nobody looks for the pins of more.
inline constexpr size_t kMostFreedSegments = 1000;

GPUSTRATA_WORDS(Verdict, too_big, full, fragmented, elsewhere, too_late, limit, unknown);

// clang-format off
GPUSTRATA_WORDS(RemedyKind,
  expandable_segments, // pieces join: bytes = cached bytes that could be used then
  free_pins,           // the blocks that keep the fewest segments whose return is enough; `missing` if all are not
  smaller_request,     // bytes by which it is above the largest request that would have been served
  use_less,            // bytes that live blocks have too many, for this request and for what is known of the rest
  largest_holder,      // bytes of the line that holds most
  checkpoint,          // bytes less that layers keep for their backward pass (operator_remedies.h)
  fused_attention,     // bytes of attention scores
  chunked_loss,        // bytes less that a cross entropy has at once
  ask_again,           // too_late: bytes of the block that the same request would find now
  free_pending,        // bytes that wait for another stream
  share_streams,       // bytes cached for other streams or pools
  raise_limit,         // no bytes: the limit is not in the file
  other_processes      // no bytes: they are not in the file
);
// clang-format on
struct Remedy {
  RemedyKind kind;
  std::optional<int64_t> bytes = std::nullopt;
  // free_pins: blocks to free, their bytes, and segments given back.
  int64_t blocks = 0, pinned_bytes = 0, segments = 0;
  int64_t missing = 0;  // free_pins: bytes that the device would lack even then
  Who who = {};         // largest_holder, free_pins: of the largest block
  // The recorded run was run again with it (confirmed_remedies.h): true = it was not out of memory. None: not tried, or
  // the run cannot be repeated well enough to say.
  std::optional<bool> confirmed = std::nullopt;
  int64_t reserved_then = 0;    // at most, in that run
  int64_t reserved_before = 0;  // when the recording began: kept as it was in that run
  // Of operators (operator_remedies.h): bytes that they hold, bytes of the request if it is theirs; of checkpoint what repeats.
  int64_t held = 0, asked = 0;
  int32_t repeats = 0;
  int64_t each = 0;  // bytes of one repeat
  LoopPlace place = {};
};

struct ExplainedOutOfMemory {
  int32_t event = 0;
  std::optional<int64_t> time_us;
  int64_t requested = 0;               // rounded up to a block
  int64_t needed = 0;                  // from the device
  std::optional<int64_t> device_free;  // none = no plausible number in the event
  std::optional<int64_t> reserved;     // none = a trace that does not say
  int64_t allocated = 0;
  // False: of a profiler's trace. `needed`, the numbers from here to `room`, and `places` are not known then, and 0.
  bool has_state = true;
  int64_t pending = 0, cached = 0;
  int64_t largest_free = 0;  // of any stream and pool
  int64_t largest_own = 0;
  int64_t free_blocks = 0;
  int64_t room = 0;  // device free + cached + pending
  StreamId stream;
  PoolId pool;
  bool small = false;
  Who who;
  StackId stack;
  replay::RecordedSettings settings;
  // Of too_late and elsewhere: the free memory that was large enough, and the event that freed the last of it.
  struct Fitting {
    int64_t bytes = 0;
    int32_t freed_event = -1;  // of the completion; of what waits, the request; -1 = not in the recording
    bool is_pending = false;   // some of it waits to be freed still
  };
  std::optional<Fitting> fitting;
  std::vector<FreePlace> places;  // own first, then largest first; at most kMostFreePlaces
  Verdict verdict = Verdict::unknown;
  bool ends_recording = false;  // the device allocates nothing after it (ending.h)
  std::optional<NeededAtLeast> needed_at_least =
      std::nullopt;              // by the rest of the run, then; none = cannot be told
  bool before_backward = false;  // then: no backward pass of the step has begun (is_before_backward)
  std::vector<Remedy> remedies;  // rank_remedies()

  // Bytes that this process lacks for the request, and for what the rest of the run needs at least.
  [[nodiscard]] int64_t lacking() const;
};

// By effect: first those that are enough for the rest of the run, where that is known; then by bytes. After these the line to look
// at, to ask for less than half as much, which is no remedy for most programs, and those without bytes.
void rank_remedies(ExplainedOutOfMemory& one);

// One event. `memory` is moved to it. `lines`, here and below: the keys by line where they are at hand. Error: limit_exceeded.
[[nodiscard]] Result<ExplainedOutOfMemory> explain_out_of_memory(const EventContext& context,
                                                                 replay::MemoryAt& memory, int32_t event,
                                                                 const Keys* lines = nullptr);

// All events of the device, the last kMostExplained; `all` counts them. Error: limit_exceeded.
struct OutOfMemoryEvents {
  int64_t all = 0;
  std::vector<ExplainedOutOfMemory> explained;  // in the order of the trace
};
// Sets needed_at_least of the last one, if it ends the recording, and what it lacks with it. Error: limit_exceeded.
[[nodiscard]] Status add_needed_at_least(const EventContext& context, const Steps& steps,
                                         OutOfMemoryEvents& events, const Keys* lines = nullptr);
[[nodiscard]] Result<OutOfMemoryEvents> explain_all_out_of_memory(const EventContext& context,
                                                                  replay::MemoryAt& memory,
                                                                  const Keys* lines = nullptr);

}  // namespace gpustrata::analysis
