// gpustrata stats, trace, flamegraph: what PyTorch's _memory_viz.py does, without a network.
#pragma once

#include <cstdint>
#include <string>

#include "engine/cli/one_file.h"

namespace gpustrata::cli {

struct StatsOptions {
  FileChoice choice;
  std::string at = "peak";
};
[[nodiscard]] int run_stats(const StatsOptions& options, const Console& console);

struct TraceOptions {
  FileChoice choice;
};
[[nodiscard]] int run_trace(const TraceOptions& options, const Console& console);

struct FlameGraphOptions {
  FileChoice choice;
  std::string at = "peak";
  std::string output;  // path; empty and - = standard output
  bool segments = false;
  bool folded = false;
};
[[nodiscard]] int run_flamegraph(const FlameGraphOptions& options, const Console& console);

}  // namespace gpustrata::cli
