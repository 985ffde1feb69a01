// Events by what they do to device memory.
#pragma once

#include "engine/trace/action.h"

namespace gpustrata::simulate {

[[nodiscard]] constexpr bool takes_memory(trace::Action action) {
  return action == trace::Action::segment_alloc || action == trace::Action::segment_map;
}
[[nodiscard]] constexpr bool gives_memory_back(trace::Action action) {
  return action == trace::Action::segment_free || action == trace::Action::segment_unmap;
}
[[nodiscard]] constexpr bool changes_segments(trace::Action action) {
  return takes_memory(action) || gives_memory_back(action);
}

}  // namespace gpustrata::simulate
