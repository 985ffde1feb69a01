// gpustrata ops TRACE... [--mode thread|span|pytorch] [--by op|path|shape|module|stack] [--sort WORD] [-n 20]
// [--device D] [--json]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/analysis/ops/op_groups.h"
#include "engine/answers/ops/ops.h"
#include "engine/cli/console.h"

namespace gpustrata::cli {

enum class OpsMode : uint8_t {
  thread,   // an op holds what its own thread allocates
  span,     // what any thread of its process allocates meanwhile
  pytorch,  // as the profiler's own table counts
};

struct OpsOptions {
  std::vector<std::string> files;
  OpsMode mode = OpsMode::thread;
  analysis::OpBy by = analysis::OpBy::op;
  answers::OpSort sort = answers::OpSort::at_peak;
  size_t rows = 20;    // of a device; JSON has all
  std::string device;  // "cuda:0"; empty = all
  bool wide = false;
  bool json = false;
};

// The exit code: 0; 1 if a file has no such device; 2 if any file could not be read or is no trace.
[[nodiscard]] int run_ops(const OpsOptions& options, const Console& console);

}  // namespace gpustrata::cli
