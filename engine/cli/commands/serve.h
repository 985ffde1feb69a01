// gpustrata serve [DIR|FILE]... [--listen 127.0.0.1:PORT] [--host NAME]... [--memory SIZE] [--sessions N]
//                 [--idle MINUTES] [--viewer gpustrata.html]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct ServeOptions {
  std::vector<std::string> paths;  // none = the folder one is in
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> hosts;
  int64_t memory_bytes = 0;  // 0 = three quarters of the machine's
  size_t sessions = 16;
  double idle_minutes = 30;
  std::string viewer;
};

// Prints the address, on a line of its own, and serves until it is told to end (SIGINT, SIGTERM, SIGHUP). The exit
// code: 0; 1 if it cannot begin.
[[nodiscard]] int run_serve(const ServeOptions& options, const Console& console);

}  // namespace gpustrata::cli
