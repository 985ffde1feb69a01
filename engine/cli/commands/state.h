// gpustrata state FILE [--at MOMENT[,MOMENT...]] [--device D] [--snapshot S] [--json]
#pragma once

#include <string>
#include <vector>

#include "engine/cli/one_file.h"

namespace gpustrata::cli {

struct StateOptions {
  FileChoice choice;
  std::vector<std::string> at = {"peak"};  // moments (moment.h); one answer each
};

[[nodiscard]] int run_state(const StateOptions& options, const Console& console);

}  // namespace gpustrata::cli
