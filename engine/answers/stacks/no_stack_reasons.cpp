#include "engine/answers/stacks/no_stack_reasons.h"

namespace gpustrata::answers {

using analysis::NoStackReason;

std::string_view to_text(NoStackReason reason) {
  switch (reason) {
    case NoStackReason::empty_stack:
      return "A stack was taken, but it holds no frames. This is usual where no Python runs, as in the "
             "threads of the "
             "backward pass; record with stacks=\"all\" to see their C++ frames.";
    case NoStackReason::other_allocs_have_one:
      return "This alloc has no stack while other events have one: the context was changed during the "
             "recording, or recording was switched on again with other settings.";
    case NoStackReason::no_history:
      return "The file has no history for this device, only its memory at the end. Call "
             "torch.cuda.memory._record_memory_history() before the part you want to see.";
    case NoStackReason::before_first_event:
      return "The block was allocated before the first event of this recording: either before recording was "
             "switched on, or its alloc was dropped because the history was full (max_entries).";
    case NoStackReason::final_state_without:
      return "It is known from the memory state at the end, where it has no frames.";
    case NoStackReason::final_state_empty:
      return "It is known from the memory state at the end, where its list of frames is empty: no stack was "
             "taken when it was allocated.";
    case NoStackReason::free_without:
      return "It is known only by its free, which has no frames.";
    case NoStackReason::free_empty:
      return "It is known only by its free, whose list of frames is empty.";
    case NoStackReason::no_frames_anywhere:
      return "No event of this device has frames, although stacks were asked for.";
    case NoStackReason::no_stacks_anywhere:
      return "No event of this device has a stack: events get one only when recording with "
             "context=\"alloc\" or context=\"all\".";
    case NoStackReason::never_for_this_event:
      return "Events of this kind never have a stack.";
    case NoStackReason::other_events_have_one:
      return "This event has no stack, while others of the recording have one.";
  }
  return {};
}

}  // namespace gpustrata::answers
