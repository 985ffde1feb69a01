// Checks for tests and debugging: what must hold after every call.
#pragma once

#include <string>

#include "engine/alloc/memory_state.h"

namespace gpustrata::alloc {

// Empty, or what is wrong first. Segments do not overlap and are in order; blocks tile them, their links
// agree, idle neighbours are one block; every active block is found by its address and nothing else is; the
// current statistics are those of the blocks. O(blocks).
[[nodiscard]] std::string check_invariants(const MemoryState& state);

}  // namespace gpustrata::alloc
