// gpustrata fleet PATH... [-o OUT] [--groups FILE] [--layout tp=8,dp=4,pp=2] [--title NAME] [--json]
#pragma once

#include <string>
#include <vector>

#include "engine/cli/console.h"

namespace gpustrata::cli {

struct FleetOptions {
  std::vector<std::string> paths;  // facts, snapshots, folders of them
  std::string output;              // the reduced file; empty = none
  std::string groups;              // CSV: run, rank, kind, name
  std::string layout;              // kinds and sizes, those of neighbouring ranks first
  std::string title;               // empty = the paths
  bool json = false;
};

// The exit code: 0; 1 for wrong options; 2 if nothing could be read, or not everything: the rest is told nevertheless.
[[nodiscard]] int run_fleet(const FleetOptions& options, const Console& console);

}  // namespace gpustrata::cli
