#include "engine/analysis/stacks/no_stack_reasons.h"

#include "engine/replay/state_history.h"

namespace gpustrata::analysis {

StacksThere stacks_there(const model::Recording& recording, model::RowRange events) {
  StacksThere there;
  for (int32_t row = events.first; row < events.end() && !there.any_frames; ++row) {
    const StackId stack = recording.events.stack[row];
    there.any = there.any || !stack.is_none();
    there.any_frames = !stack.is_none() && recording.stacks.leaf(stack) >= 0;
  }
  return there;
}

bool any_block_has_frames(const model::Recording& recording, const model::Part& part, int32_t device) {
  const model::RowRange rows = device == replay::kHostDevice ? part.host_segments : part.segments;
  for (int32_t row = rows.first; row < rows.end(); ++row) {
    if (recording.segments.device[row] != device) continue;
    const model::RowRange blocks = recording.segments.blocks[row];
    for (int32_t block = blocks.first; block < blocks.end(); ++block) {
      const StackId stack = recording.blocks.stack[block];
      if (!stack.is_none() && recording.stacks.leaf(stack) >= 0) return true;
    }
  }
  return false;
}

}  // namespace gpustrata::analysis
