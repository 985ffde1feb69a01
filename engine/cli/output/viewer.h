// The page that a command puts a snapshot into, or serves: gpustrata.html.
#pragma once

#include <string>

#include "engine/cli/failure.h"

namespace gpustrata::cli {

// The text of the one that is `named`, or else of the one that is installed or built beside this command. Failure:
// no_viewer, about `about`.
[[nodiscard]] Outcome<std::string> viewer_page(const std::string& named, const std::string& about);

}  // namespace gpustrata::cli
