// The text of torch.cuda.memory_summary().
#pragma once

#include <string>

#include "engine/alloc/stats.h"

namespace gpustrata::alloc {

// A table of 77 columns, lines end with \n. `abbreviated` leaves the rows of the small and large pool out.
// The unit of a column is chosen by the row's value for all pools.
[[nodiscard]] std::string memory_summary(const MemoryStats& stats, int device, bool abbreviated = false);

}  // namespace gpustrata::alloc
