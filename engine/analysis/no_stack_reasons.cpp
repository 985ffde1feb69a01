#include "engine/analysis/no_stack_reasons.h"

namespace memstrata::analysis {

StacksThere stacks_there(const model::Recording& recording, model::RowRange events) {
  StacksThere there;
  for (int32_t row = events.first; row < events.end() && !there.any_frames; ++row) {
    const StackId stack = recording.events.stack[static_cast<size_t>(row)];
    there.any = there.any || !stack.is_none();
    there.any_frames = !stack.is_none() && recording.stacks.leaf(stack) >= 0;
  }
  return there;
}

}  // namespace memstrata::analysis
