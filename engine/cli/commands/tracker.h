// gpustrata tracker FILE [OTHER] [--top 20] [--json]
#pragma once

#include <cstddef>
#include <string>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct TrackerOptions {
  std::string file;
  std::string other;  // empty: about one file
  size_t top = 20;
  bool json = false;
};

// The exit code: 0; 2 if a file could not be read, or is none of MemoryTracker.
[[nodiscard]] int run_tracker(const TrackerOptions& options, const Console& console);

}  // namespace gpustrata::cli
