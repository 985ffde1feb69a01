// gpustrata anonymize FILE -o OUT [--json]
#pragma once

#include <string>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct AnonymizeOptions {
  std::string file;    // - is standard input
  std::string output;  // - is standard output
  bool json = false;
};

// Writes the snapshots as a pickle without the program's words (model/anonymous.h). The exit code.
[[nodiscard]] int run_anonymize(const AnonymizeOptions& options, const Console& console);

}  // namespace gpustrata::cli
