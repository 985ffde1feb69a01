// A folder read as an archive of its files: each becomes parts of one recording, named after it.
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "engine/cli/failure.h"
#include "engine/model/recording.h"

namespace gpustrata::cli {

[[nodiscard]] bool is_folder(const std::string& path);

// Its files in the order of their names, not those of folders inside; what is nothing that is read here is told as a
// finding. Failure: unreadable; that of the first file if none can be read.
[[nodiscard]] Outcome<void> read_folder(const std::string& path, model::Recording& recording);

}  // namespace gpustrata::cli
