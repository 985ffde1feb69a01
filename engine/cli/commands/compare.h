// gpustrata compare BEFORE AFTER: what grew between two recordings.
#pragma once

#include <string>

#include "engine/analysis/live/top.h"
#include "engine/cli/one_file.h"

namespace gpustrata::cli {

struct CompareOptions {
  FileChoice before,
      after;  // of `after` an empty snapshot means that of `before`; device and json are before's
  // peak, end, start, or an event's index; of each file its own. Empty: the end for tables and pictures, the peak for
  // `parts`, as what a run needs is its peak.
  std::string at;
  analysis::By by = analysis::By::stack;
  size_t rows = 20;
  std::string output;     // path of a flame graph's SVG; "-" = standard output; empty = none
  bool wide = false;      // lines as long as they are
  bool folded = false;    // the flame graph as lines, to `output` or instead of the table
  bool segments = false;  // in the flame graph: between stream and state
};

[[nodiscard]] int run_compare(const CompareOptions& given, const Console& console);

}  // namespace gpustrata::cli
