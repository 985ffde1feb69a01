// The process: its arguments, standard output and standard error. What it does is in commands.h.
#include <unistd.h>

#include <string>
#include <vector>

#include "engine/cli/commands.h"

int main(int argc, char** argv) {
  using namespace gpustrata::cli;
  DescriptorSink out(STDOUT_FILENO), notes(STDERR_FILENO);
  const Console console{out, notes, columns_of(STDOUT_FILENO), isatty(STDERR_FILENO) != 0,
                        default_budget_bytes()};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return run(arguments, console);
}
