// The command line tool. Options are in commands.cpp; each command has a file of its own.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "engine/cli/commands.h"
#include "engine/cli/exit_codes.h"
#include "engine/cli/version.h"

namespace {

int run(int argc, char** argv) {
  using namespace memstrata::cli;
  CLI::App app("Reads memory snapshots of PyTorch's CUDA caching allocator.", "memstrata");
  app.set_version_flag("--version", fmt::format("memstrata {}", kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success (also for a damaged file of which something was read), 1 wrong usage,\n"
      "2 a file could not be read (the others are still printed) or written, or a step of a script is wrong.");
  Run chosen;
  add_commands(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kWrongUsage;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("memstrata: out of memory\n", stderr);
    return memstrata::cli::kUnreadable;
  }
}
