#include "engine/cli/process.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "engine/cli/commands.h"

namespace gpustrata::cli {

int run_as_process(int argc, char** argv) {
  DescriptorSink out(STDOUT_FILENO), notes(STDERR_FILENO);
  const Console console{out, notes, columns_of(STDOUT_FILENO), isatty(STDERR_FILENO) != 0,
                        default_budget_bytes()};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return run(arguments, console);
}

}  // namespace gpustrata::cli
