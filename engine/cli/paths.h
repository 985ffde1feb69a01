// Lists of paths, as people paste them.
#pragma once

#include <string>
#include <vector>

namespace memstrata::cli {

// Appends the paths in a list: one a line, empty lines left out, white space around and quotes removed. "-"
// is standard input. False: it cannot be read.
[[nodiscard]] bool append_paths(const std::string& list, std::vector<std::string>& paths);

}  // namespace memstrata::cli
