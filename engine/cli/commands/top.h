// gpustrata top FILE... [--at peak|start|end|EVENT] [--by stack|line|function|file] [-n 20] [--filter F] [--device N]
//               [--with TRACE [--offset MICROSECONDS] [--ops]] [--json]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/analysis/live/top.h"
#include "engine/cli/console.h"
#include "engine/cli/input/with_trace.h"

namespace gpustrata::cli {

struct TopOptions {
  std::vector<std::string> files;
  std::string at = "peak";
  analysis::By by = analysis::By::stack;
  size_t rows = 20;
  std::string filter;  // only blocks that it means (analysis/filters/filter_syntax.h); empty = all
  std::optional<int32_t> device;
  WithTrace with;
  bool wide = false;  // lines as long as they are
  bool json = false;
};

// The exit code: 0; 1 if a file has no such event or device; 2 if any file could not be read.
[[nodiscard]] int run_top(const TopOptions& options, const Console& console);

}  // namespace gpustrata::cli
