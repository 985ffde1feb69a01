// gpustrata summary FILE... [--json]
#pragma once

#include <string>
#include <vector>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct SummaryOptions {
  std::vector<std::string> files;
  bool json = false;
};

// The exit code: 0, or 2 if any file could not be read (after the others were printed).
[[nodiscard]] int run_summary(const SummaryOptions& options, const Console& console);

}  // namespace gpustrata::cli
