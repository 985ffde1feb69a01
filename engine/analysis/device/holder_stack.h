// Whose stack stands for who holds a block: never that of who freed it.
//
// Of a block from before the recording often nothing is known but its free, whose stack is of the allocation only where the recording
// was begun so (FreeStacks). Otherwise nobody is known to hold the block.
#pragma once

#include "engine/analysis/device/block_sources.h"

namespace gpustrata::analysis {

// Of a block that source_of() found. None if nothing is known, or an empty list of frames is.
[[nodiscard]] inline StackId holder_stack(const BlockSource& source, FreeStacks free_stacks) {
  const bool is_of_who_freed =
      source.stack.from == StackFrom::free && free_stacks != FreeStacks::of_the_alloc;
  return is_of_who_freed ? StackId{} : source.stack.stack;
}

}  // namespace gpustrata::analysis
