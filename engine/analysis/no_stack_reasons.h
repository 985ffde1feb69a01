// Why a block or an event has no stack: what both can say, from what this recording really holds.
#pragma once

#include <string_view>

#include "engine/model/recording.h"

namespace memstrata::analysis {

struct StacksThere {
  bool any = false;         // an event has a list of frames, if only an empty one
  bool any_frames = false;  // one of them is not empty
};
// O(events) at worst.
[[nodiscard]] StacksThere stacks_there(const model::Recording& recording, model::RowRange events);

inline constexpr std::string_view kEmptyStack =
    "A stack was taken, but it holds no frames. This is usual where no Python runs, as in the threads of the "
    "backward pass; record with stacks=\"all\" to see their C++ frames.";
inline constexpr std::string_view kNoFrames =
    "No event of this device has frames, although stacks were asked for.";
inline constexpr std::string_view kNoStacks =
    "No event of this device has a stack: events get one only when recording with context=\"alloc\" or "
    "context=\"all\".";

}  // namespace memstrata::analysis
