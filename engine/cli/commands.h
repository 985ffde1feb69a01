// The options of every command, and which one was asked for.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace memstrata::cli {

// Runs the command; the exit code.
using Run = std::function<int()>;

// Adds all commands to `app`. Parsing sets `chosen` to the command of the command line.
void add_commands(CLI::App& app, Run& chosen);

}  // namespace memstrata::cli
