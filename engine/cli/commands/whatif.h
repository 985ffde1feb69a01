// gpustrata whatif FILE [--conf TEXT] [--capacity BYTES] [--without FILTER] [--scale FILTER=X] [--take SIZE@EVENT[..EVENT]]
//                  [--empty-cache EVENT] [--no-caching] [--smallest] [--search] [--device D] [--snapshot S] [--dump OUT] [--json]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/one_file.h"

namespace gpustrata::cli {

struct WhatIfOptions {
  FileChoice choice;
  std::optional<std::string> conf;  // default: the recorded settings
  std::optional<int64_t> capacity;  // default: what the recording says
  std::vector<std::string> without;
  std::vector<std::string> scale;    // FILTER=X
  std::vector<std::string> take;     // SIZE@EVENT or SIZE@EVENT..EVENT
  std::vector<int32_t> empty_cache;  // after these events
  bool no_caching = false;
  bool smallest = false;
  bool search = false;
  std::string dump;  // where the simulated run goes as a snapshot; empty = nowhere
};

[[nodiscard]] int run_whatif(const WhatIfOptions& options, const Console& console);

}  // namespace gpustrata::cli
