// The name of this process's journal of the driver: the rules of `gpustrata run` (python/gpustrata/_run/files.py), for programs
// without Python.
#pragma once

#include <string>

#include "engine/base/status.h"

namespace gpustrata::capture {

// A path that nobody has and that is taken from now on: an empty file. {host}, {rank}, {device}, {pid} of `pattern` are filled; a
// file that is there stays, and the name gets a number; where the folder takes nothing it is the system's for temporary ones.
// Always NAME.gpustrata; `beside`: NAME-driver.gpustrata. Error: io_error, of the place that was meant.
[[nodiscard]] Result<std::string> place_driver_file(const std::string& pattern, bool beside);

}  // namespace gpustrata::capture
