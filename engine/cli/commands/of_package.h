// Commands that are part of the Python package: run, dump and estimate. Here they are for help, manual and completions.
#pragma once

#include <span>
#include <string>

#include "engine/cli/console.h"

namespace gpustrata::cli {

// Whether `arguments` are for the package to understand; a --help behind the command's name is the parser's.
[[nodiscard]] bool is_of_package(std::span<const std::string> arguments);

// Puts `python -m gpustrata ARGUMENTS` in place of this process: the Python beside this command, else the first in PATH.
// Returns only if that fails: the exit code, after saying why.
[[nodiscard]] int become_package(std::span<const std::string> arguments, const Console& console);

}  // namespace gpustrata::cli
