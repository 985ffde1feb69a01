// The page over HTTP, until the command is told to end: what `serve` and `live` have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cli/console.h"

namespace CLI {
class App;
}

namespace gpustrata::cli {

struct ServeOptions {
  std::vector<std::string> paths;  // none = the folder one is in
  bool is_live = false;            // the page follows the journals among them
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> hosts;
  int64_t memory_bytes = 0;  // 0 = three quarters of the machine's
  size_t sessions = 16;
  double idle_minutes = 30;
  std::string viewer;
};

// Prints the address, on a line of its own, and serves until it is told to end (SIGINT, SIGTERM, SIGHUP). The exit
// code: 0; 1 if it cannot begin.
int serve_pages(const ServeOptions& options, const char* command, const Console& console);

// Options that both commands have.
void add_serving(CLI::App& command, ServeOptions& options);

}  // namespace gpustrata::cli
