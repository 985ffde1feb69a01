// "distributedInfo" of a profiler's trace: which of how many processes wrote it, and the groups that it is in.
//
// PyTorch writes {"rank", "world_size", "pg_config": [{"pg_desc", "ranks", ...}]}, a group for each that the process belongs to.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/model/part.h"

namespace gpustrata::io::traces {

inline constexpr size_t kMostGroups = 64;  // of a process; those beyond are left out
inline constexpr size_t kLongestGroupKind = 64;

// `info` is the text of the object. What is not as described above is passed over. O(its bytes).
[[nodiscard]] model::Launch read_launch(std::string_view info);

}  // namespace gpustrata::io::traces
