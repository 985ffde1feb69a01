// gpustrata telemetry FILE|FOLDER [--json]
#pragma once

#include <string>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct TelemetryOptions {
  std::string path;
  bool json = false;
};

// The exit code: 0; 2 if the file could not be read, or holds no counters.
[[nodiscard]] int run_telemetry(const TelemetryOptions& options, const Console& console);

}  // namespace gpustrata::cli
