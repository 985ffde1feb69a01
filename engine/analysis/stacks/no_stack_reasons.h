// Why a block or an event has no stack: what can be said, from what this recording really holds.
#pragma once

#include <cstdint>

#include "engine/model/recording.h"

namespace gpustrata::analysis {

struct StacksThere {
  bool any = false;         // an event has a list of frames, if only an empty one
  bool any_frames = false;  // one of them is not empty
};
// O(events) at worst.
[[nodiscard]] StacksThere stacks_there(const model::Recording& recording, model::RowRange events);
// A block of the device has some in the final state: there may be stacks where no event has one. O(segments + blocks).
[[nodiscard]] bool any_block_has_frames(const model::Recording& recording, const model::Part& part,
                                        int32_t device);

// answers/stacks/no_stack_reasons.h has the sentences.
enum class NoStackReason : uint8_t {
  empty_stack,            // one was taken, without frames
  other_allocs_have_one,  // this alloc has none
  no_history,             // the device has no events
  before_first_event,     // the block is older than the recording
  final_state_without,    // it is known from the final state, without frames
  final_state_empty,      // the same, with an empty list
  free_without,           // it is known by its free, without frames
  free_empty,             // the same, with an empty list
  no_frames_anywhere,     // stacks were asked for, but none has frames
  no_stacks_anywhere,     // no event of the device has a stack
  never_for_this_event,   // of the kind that has none
  other_events_have_one,  // this event has none
};

}  // namespace gpustrata::analysis
