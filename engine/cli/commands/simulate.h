// gpustrata simulate SCRIPT|- [--device BYTES] [--conf TEXT] [--json] [--dump FILE]
#pragma once

#include <cstdint>
#include <string>

#include "engine/cli/console.h"
#include "engine/simulate/simulation.h"

namespace gpustrata::cli {

struct SimulateOptions {
  std::string script;  // a file, or - for standard input
  int64_t device_bytes = simulate::kDefaultDeviceBytes;
  std::string conf;
  std::string dump;  // where the snapshot at the end goes; empty = nowhere
  bool json = false;
};

// The exit code: 0 (also if the script ran out of device memory: that is a result), 1 wrong device or
// settings, 2 the script could not be read, a step is wrong, or the dump could not be written.
[[nodiscard]] int run_simulate(const SimulateOptions& options, const Console& console);

}  // namespace gpustrata::cli
