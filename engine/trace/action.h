// What an event of the allocator history says. Names are those of PyTorch's snapshot format.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpustrata::trace {

enum class Action : uint8_t {
  alloc,               // a block was handed out; size = requested bytes
  free_requested,      // the program gave the block back
  free_completed,      // the block became reusable
  segment_alloc,       // device memory was obtained; size = real bytes
  segment_free,        // device memory is given back, always a whole segment
  segment_map,         // expandable segment: pages added
  segment_unmap,       // expandable segment: pages removed
  oom,                 // out of memory is about to be raised; `address` holds the free bytes of the device
  snapshot,            // somebody took a snapshot; address 0, size = active bytes
  annotate,            // text attached to a live block
  user_defined,        // profiler range marker of mid 2024
  workspace_snapshot,  // Ascend
  empty_cache,         // Ascend forks
  free,                // free_requested and free_completed at once (only imitators write it)
  first_unknown,       // this value and above: Recording::unknown_actions[action - first_unknown]
};

[[nodiscard]] std::optional<Action> action_of(std::string_view name);
// Empty for first_unknown and above.
[[nodiscard]] std::string_view name_of(Action action);

// The event's address is that of a segment, or of a block.
[[nodiscard]] constexpr bool is_of_segment(Action action) {
  return action >= Action::segment_alloc && action <= Action::segment_unmap;
}
[[nodiscard]] constexpr bool is_of_block(Action action) {
  return action <= Action::free_completed || action == Action::free || action == Action::annotate;
}

// The block at the event's address is reusable afterwards.
[[nodiscard]] constexpr bool completes_free(Action action) {
  return action == Action::free_completed || action == Action::free;
}

}  // namespace gpustrata::trace
