// gpustrata owner ADDRESS FILE [--at MOMENT] [--device D] [--snapshot S] [--json]
#pragma once

#include <string>

#include "engine/cli/one_file.h"

namespace gpustrata::cli {

struct OwnerOptions {
  std::string address;  // 0x7f3c00001200, or decimal
  FileChoice choice;
  std::string at = "end";  // an illegal memory access ends a program
};

// Without --device every device of the snapshot is asked. Those that ever had the address answer, else the one with something
// nearest to it.
[[nodiscard]] int run_owner(const OwnerOptions& options, const Console& console);

}  // namespace gpustrata::cli
