// How many bytes the allocator gave to a request, where the dump does not say.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/alloc/config.h"
#include "engine/replay/state_history.h"

namespace gpustrata::replay {

// The request rounded up by the settings. Sizes of pinned host memory are block sizes already; more than any device has is
// nobody's request.
[[nodiscard]] inline int64_t least_block_size(const StateHistory& history, int64_t requested) {
  if (history.rows.device == kHostDevice || requested > alloc::kLargestRequest)
    return std::max(requested, int64_t{1});
  return history.config.round_size(requested);
}

// The same, or all of the free block if the allocator does not split it. `room`: bytes to what follows it.
// `is_plain`: it lies in a known segment that is not expandable.
[[nodiscard]] inline int64_t block_size(const StateHistory& history, int64_t requested, int64_t room,
                                        bool is_plain) {
  const int64_t least = least_block_size(history, requested);
  if (room < least) return room;
  if (!is_plain || alloc::Config::is_small(least) || history.rows.device == kHostDevice) return least;
  return least >= history.config.max_split_size || room - least <= alloc::kSmallSize ? room : least;
}

}  // namespace gpustrata::replay
