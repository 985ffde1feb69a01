// Lists of paths, as people paste them.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/failure.h"

namespace gpustrata::cli {

// Appends the paths in a list: one a line, empty lines left out, white space around and quotes removed. "-"
// is standard input. Failure: wrong_usage, if the list cannot be read, is longer than 16 MiB or no text.
[[nodiscard]] Outcome<void> append_paths(const std::string& list, std::vector<std::string>& paths);

}  // namespace gpustrata::cli
