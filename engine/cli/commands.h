// The whole command: what `main` calls, and what tests call in a process of their own.
#pragma once

#include <span>
#include <string>

#include "engine/cli/console.h"

namespace gpustrata::cli {

// `arguments` without the program's name. The exit code. Nothing is written but to the console and to outputs
// that the arguments name; standard input is read where they say "-".
[[nodiscard]] int run(std::span<const std::string> arguments, const Console& console);

}  // namespace gpustrata::cli
