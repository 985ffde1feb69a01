// What all commands do with a list of files: one answer each, in order; what cannot be read does not stop the
// others.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "engine/cli/input.h"

namespace memstrata::cli {

// Prints the text that `answer` gives for each file to standard output; texts have an empty line between
// them, JSON lines have not. A failure goes to standard error, or into its line of JSON. The exit code: 0, or
// 2 if any file could not be read.
[[nodiscard]] int for_each_file(
    const std::vector<std::string>& files, bool json,
    const std::function<tl::expected<std::string, ReadFailure>(const std::string&)>& answer);

}  // namespace memstrata::cli
