// The command as the process that it is: its arguments, standard output and standard error. What it does is in commands.h.
#pragma once

namespace gpustrata::cli {

// What `main` gets and returns.
[[nodiscard]] int run_as_process(int argc, char** argv);

}  // namespace gpustrata::cli
