// What memory this process may have: the machine's, or less where a container or a shell limits it.
#pragma once

#include <cstdint>
#include <string>

namespace gpustrata::cli {

// The smallest of the machine's memory, the limits of its control groups (version 1 and 2, each up to the outermost), and
// the limit of its address space. 0 = the system does not say. `root` is where /proc and /sys are.
[[nodiscard]] int64_t memory_limit(const std::string& root = "");

}  // namespace gpustrata::cli
